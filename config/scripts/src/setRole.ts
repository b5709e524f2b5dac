import { parseArgs } from 'node:util';
import type { ErrorCode } from '@behalf/contracts';
import {
  withMaintenanceLease,
  DEFAULT_TENANT,
  GatewayError,
  LOCAL_ISSUER,
  roleLeaseKey,
  normalizeEmail,
} from '@behalf/gateway';
import type { UserRecord, UserStore } from '@behalf/gateway/ports';
import { CommandError, readEnvironment, systemParts, runScript } from './environment.ts';
import { withPrimaryStore } from './withPrimaryStore.ts';
import { withAuditedChange } from './withAuditedChange.ts';
import { requireRole } from './requireRole.ts';

const USAGE = 'Usage: npm run set-role -- --email a@b.c --role ROLE [--force]';

await runScript(async () => {
  const { values } = parseArgs({
    options: { email: { type: 'string' }, role: { type: 'string' }, force: { type: 'boolean' } },
  });
  const { email, role, force = false } = values;
  if (!email || !role) throw new CommandError(USAGE);
  const subject = normalizeEmail(email);
  return withPrimaryStore(readEnvironment(), async (store, keyring) => {
    await requireRole(store.roles, role, USAGE);
    const user = await withAuditedChange({ store, keyring }, 'user.change', (auditContext) =>
      withMaintenanceLease(
        { leases: store.leases, ...systemParts },
        roleLeaseKey(DEFAULT_TENANT),
        async (assertLeaseHeld) => {
          const found = await store.users.findByIdentity(DEFAULT_TENANT, LOCAL_ISSUER, subject);
          if (!found) throw createError('USER_NOT_FOUND', `There is no local account ${subject}.`);
          auditContext.subject = found.id;
          const changed = [
            ...(found.role === role ? [] : ['role']),
            ...(found.roleSource === 'manual' ? [] : ['roleSource']),
          ];
          if (changed.length === 0) return { result: found, changed };
          const isDemotion = found.role === 'ADMIN' && role !== 'ADMIN' && found.disabledAt === null;
          if (isDemotion && !force) await requireAnotherAdmin(store.users);
          await assertLeaseHeld();
          await updateRole(store.users, found, role);
          await store.changes.publish({ topic: 'users', id: found.id });
          return { result: found, changed };
        },
      ),
    );
    return `${user.email} is now ${role}`;
  });
});

async function requireAnotherAdmin(users: UserStore): Promise<void> {
  if ((await users.countWithRole(DEFAULT_TENANT, 'ADMIN')) > 1) return;
  throw createError('LAST_ADMIN', 'This is the only ADMIN. Make another user ADMIN first, or use --force.');
}

/** Conditional on the values that were read, because an administrator may have changed them. */
async function updateRole(
  users: UserStore,
  { id, role, roleSource }: UserRecord,
  newRole: string,
): Promise<void> {
  const change = { role: newRole, roleSource: 'manual', roleConfirmedAt: null } as const;
  if (await users.update(id, change, systemParts.clock.now(), { role, roleSource })) return;
  throw createError('VERSION_CONFLICT', 'The account was changed at the same time. Run this again.');
}

/** With a code, so that the audit log distinguishes a refusal from a failure. */
function createError(code: ErrorCode, detail: string): GatewayError {
  return new GatewayError(code, { detail });
}
