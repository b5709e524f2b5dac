import { parseArgs } from 'node:util';
import { Email, Password } from '@behalf/contracts';
import { createAccounts, createPasswords } from '@behalf/gateway';
import { CommandError, environment, parts, runCommand } from './environment.ts';
import { withPrimary } from './openedPrimary.ts';
import { readPassword } from './password.ts';
import { recordedCommand } from './recordedCommand.ts';
import { requireRole } from './requireRole.ts';

const USAGE =
  'Usage: npm run create-user -- --email a@b.c [--name "Ada"] [--role ROLE]; the password by prompt or on standard input.';

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      email: { type: 'string' },
      name: { type: 'string' },
      role: { type: 'string', default: 'USER' },
    },
  });
  const email = Email.safeParse(values.email);
  if (!email.success) throw new CommandError(`--email is missing or no email address. ${USAGE}`);
  const password = Password.safeParse(await readPassword());
  if (!password.success) throw new CommandError('The password needs 8 to 256 characters.');
  const name = values.name ?? email.data.split('@')[0] ?? email.data;

  const { role } = values;
  const user = await withPrimary(environment(), async (store, keyring) => {
    await requireRole(store.roles, role, USAGE);
    return recordedCommand({ store, keyring }, 'user.create', async (trail) => {
      const accounts = createAccounts({
        users: store.users,
        changes: store.changes,
        passwords: createPasswords(parts.random),
        keyring,
        ...parts,
      });
      const created = await accounts.create({ email: email.data, name, password: password.data, role });
      trail.subject = created.id;
      return { result: created, changed: ['role'] };
    });
  });
  return `Created ${user.email} (${user.role}), id ${user.id}`;
});
