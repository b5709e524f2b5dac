import { parseArgs } from 'node:util';
import { builtInRoles } from '@behalf/contracts';
import { DEFAULT_TENANT, LOCAL_ISSUER, normaliseEmail } from '@behalf/gateway';
import { CommandError, environment, parts, runCommand } from './environment.ts';
import { withPrimary } from './openedPrimary.ts';

const USAGE = 'Usage: npm run set-role -- --email a@b.c --role USER|ADMIN';

await runCommand(async () => {
  const { values } = parseArgs({ options: { email: { type: 'string' }, role: { type: 'string' } } });
  const role = builtInRoles.find((known) => known === values.role);
  if (!values.email || !role) throw new CommandError(USAGE);
  const subject = normaliseEmail(values.email);
  return withPrimary(environment(), async (store) => {
    const user = await store.users.findByIdentity(DEFAULT_TENANT, LOCAL_ISSUER, subject);
    if (!user) throw new CommandError(`There is no local account ${subject}.`);
    await store.users.setRole(user.id, role, parts.clock.now());
    await store.changes.publish({ topic: 'users', id: user.id });
    return `${user.email} is now ${role}`;
  });
});
