import { parseArgs } from 'node:util';
import { Email, Password } from '@behalf/contracts';
import { createAccounts, createPasswords } from '@behalf/gateway';
import { CommandError, readEnvironment, systemParts, runScript } from './environment.ts';
import { withPrimaryStore } from './withPrimaryStore.ts';
import { readPassword } from './readPassword.ts';
import { withAuditedChange } from './withAuditedChange.ts';
import { requireRole } from './requireRole.ts';

const USAGE =
  'Usage: npm run create-user -- --email a@b.c [--name "Ada"] [--role ROLE]; the password is read from a prompt or from standard input.';

await runScript(async () => {
  const { values } = parseArgs({
    options: {
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string', default: 'USER' },
    },
  });
  const email = Email.safeParse(values.email);
  if (!email.success) throw new CommandError(`--email is missing or not an email address. ${USAGE}`);
  const password = Password.safeParse(await readPassword());
  if (!password.success) throw new CommandError('The password must have 8 to 256 characters.');
  const name = values.name ?? email.data.split('@')[0] ?? email.data;

  const { role } = values;
  const user = await withPrimaryStore(readEnvironment(), async (store, keyring) => {
    await requireRole(store.roles, role, USAGE);
    return withAuditedChange({ store, keyring }, 'user.create', async (auditContext) => {
      const accounts = createAccounts({
        users: store.users,
        changes: store.changes,
        passwords: createPasswords(systemParts.random),
        keyring,
        ...systemParts,
      });
      const created = await accounts.create({ email: email.data, name, password: password.data, role });
      auditContext.subject = created.id;
      return { result: created, changed: ['role'] };
    });
  });
  return `Created ${user.email} (${user.role}), id ${user.id}`;
});
