import { parseArgs } from 'node:util';
import type { ErrorCode } from '@behalf/contracts';
import {
  withLease,
  DEFAULT_TENANT,
  GatewayError,
  LOCAL_ISSUER,
  roleLeaseKey,
  normaliseEmail,
} from '@behalf/gateway';
import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import { CommandError, environment, parts, runCommand } from './environment.ts';
import { withPrimary } from './openedPrimary.ts';
import { recordedCommand } from './recordedCommand.ts';
import { requireRole } from './requireRole.ts';

const USAGE = 'Usage: npm run set-role -- --email a@b.c --role ROLE [--force]';

await runCommand(async () => {
  const { values } = parseArgs({
    options: { email: { type: 'string' }, role: { type: 'string' }, force: { type: 'boolean' } },
  });
  const { email, role, force = false } = values;
  if (!email || !role) throw new CommandError(USAGE);
  const subject = normaliseEmail(email);
  return withPrimary(environment(), async (store, keyring) => {
    await requireRole(store.roles, role, USAGE);
    const user = await recordedCommand({ store, keyring }, 'user.change', (trail) =>
      withLease({ leases: store.leases, ...parts }, roleLeaseKey(DEFAULT_TENANT), async (stillAlone) => {
        const found = await store.users.findByIdentity(DEFAULT_TENANT, LOCAL_ISSUER, subject);
        if (!found) throw refused('USER_NOT_FOUND', `There is no local account ${subject}.`);
        trail.subject = found.id;
        const changed = [
          ...(found.role === role ? [] : ['role']),
          ...(found.roleSource === 'manual' ? [] : ['roleSource']),
        ];
        if (changed.length === 0) return { result: found, changed };
        const isDemotion = found.role === 'ADMIN' && role !== 'ADMIN' && found.disabledAt === null;
        if (isDemotion && !force) await requireAnotherAdmin(store.users);
        await stillAlone();
        await write(store.users, found, role);
        await store.changes.publish({ topic: 'users', id: found.id });
        return { result: found, changed };
      }),
    );
    return `${user.email} is now ${role}`;
  });
});

async function requireAnotherAdmin(users: UserStore): Promise<void> {
  if ((await users.countWithRole(DEFAULT_TENANT, 'ADMIN')) > 1) return;
  throw refused('LAST_ADMIN', 'Nobody else is ADMIN. Make another user ADMIN first, or give --force.');
}

/** By what was read: an administrator may have changed it meanwhile. */
async function write(users: UserStore, { id, role, roleSource }: UserRecord, next: string): Promise<void> {
  const change = { role: next, roleSource: 'manual', roleConfirmedAt: null } as const;
  if (await users.update(id, change, parts.clock.now(), { role, roleSource })) return;
  throw refused('VERSION_CONFLICT', 'The account was changed at the same moment. Run this again.');
}

/** With a code, so that the audit tells a refusal from a fault. */
function refused(code: ErrorCode, detail: string): GatewayError {
  return new GatewayError(code, { detail });
}
