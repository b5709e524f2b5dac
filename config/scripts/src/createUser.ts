import { parseArgs } from 'node:util';
import { builtInRoles, Email, Password } from '@behalf/contracts';
import { createAccounts, createPasswords } from '@behalf/gateway';
import { CommandError, environment, parts, runCommand } from './environment.ts';
import { withPrimary } from './openedPrimary.ts';
import { readPassword } from './password.ts';

const USAGE =
  'Usage: npm run create-user -- --email a@b.c [--name "Ada"] [--role USER|ADMIN]; the password by prompt or on standard input.';

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
  const role = builtInRoles.find((known) => known === values.role);
  if (!role) throw new CommandError(`--role must be one of ${builtInRoles.join(', ')}. ${USAGE}`);
  const password = Password.safeParse(await readPassword());
  if (!password.success) throw new CommandError('The password needs 8 to 256 characters.');
  const name = values.name ?? email.data.split('@')[0] ?? email.data;

  const user = await withPrimary(environment(), (store, keyring) =>
    createAccounts({
      users: store.users,
      changes: store.changes,
      passwords: createPasswords(parts.random),
      keyring,
      ...parts,
    }).create({ email: email.data, name, password: password.data, role }),
  );
  return `Created ${user.email} (${user.role}), id ${user.id}`;
});
