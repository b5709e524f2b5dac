import type { UserChangeRequest, UserSearch } from '@behalf/contracts';
import { type Audit, actorOf } from '../audit/audit.ts';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { LOCAL_ISSUER } from '../identity/accounts.ts';
import type { SignInSessions } from '../identity/signInSessions.ts';
import type { ChangeFeed, SessionRecord, UserChange, UserRecord, UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { type LeaseParts, roleLeaseKey, withMaintenanceLease } from '../replication/withLease.ts';
import { type Roles, requireAdmin } from './roles.ts';

/** Administration of the accounts of the caller's tenant. Accounts of other tenants give USER_NOT_FOUND. */
export interface UserAdmin {
  /** Ordered by id. `next` is the `after` value of the next page. */
  list(caller: UserPrincipal, page: UserSearch): Promise<{ users: UserRecord[]; next: string | null }>;
  view(caller: UserPrincipal, id: string): Promise<UserRecord>;
  change(caller: UserPrincipal, id: string, change: UserChangeRequest): Promise<UserRecord>;
  sessionsOf(caller: UserPrincipal, id: string): Promise<SessionRecord[]>;
  endSession(caller: UserPrincipal, id: string, session: string): Promise<void>;
  endSessions(caller: UserPrincipal, id: string): Promise<number>;
}

interface UserAdminParts extends LeaseParts {
  readonly users: UserStore;
  readonly sessions: Pick<SignInSessions, 'list' | 'endByHash' | 'endAll'>;
  readonly roles: Roles;
  readonly changes: ChangeFeed;
  readonly audit: Audit;
}

export function createUserAdmin(parts: UserAdminParts): UserAdmin {
  const { users, sessions, roles, changes, clock, audit } = parts;

  async function findUser(caller: UserPrincipal, id: string): Promise<UserRecord> {
    requireAdmin(caller);
    const user = await users.findById(id);
    if (user?.tenant !== caller.tenant) throw new GatewayError('USER_NOT_FOUND');
    return user;
  }

  /** Translates the request into the columns that differ from the stored account. */
  async function toUserChange(user: UserRecord, request: UserChangeRequest): Promise<UserChange> {
    const { role = user.role, disabled = user.disabledAt !== null } = request;
    const roleSource = request.role === undefined ? (request.roleSource ?? user.roleSource) : 'manual';
    if (roleSource === 'claim' && user.issuer === LOCAL_ISSUER) {
      const message = 'A local account has no identity provider token.';
      throw new GatewayError('REQUEST_INVALID', {
        errors: [{ path: 'roleSource', code: 'no_claims', message }],
      });
    }
    const change: UserChange = {};
    if (role !== user.role) change.role = role;
    if (roleSource !== user.roleSource) {
      // Only a token issued after this change may set the role. Token timestamps have a resolution of one second.
      const confirmedAt = Math.floor(clock.now() / 1_000) * 1_000 - 1;
      Object.assign(change, { roleSource, roleConfirmedAt: roleSource === 'claim' ? confirmedAt : null });
    }
    if (disabled !== (user.disabledAt !== null)) change.disabledAt = disabled ? clock.now() : null;
    // A role may be deleted while all accounts that have it are disabled, so enabling an account checks it too.
    if (change.role !== undefined || change.disabledAt === null) {
      await roles.refresh();
      if (!roles.exists(user.tenant, role)) throw new GatewayError('ROLE_NOT_FOUND');
    }
    return change;
  }

  /** Writes the change unless the tenant would have no active administrator left. */
  async function updateUser(
    user: UserRecord,
    change: UserChange,
    assertLeaseHeld: () => Promise<void>,
  ): Promise<UserRecord> {
    const { id, tenant, role, roleSource, roleConfirmedAt, disabledAt } = user;
    const after = { ...user, ...change, updatedAt: clock.now() };
    const removesAdmin = isActiveAdmin(user) && !isActiveAdmin(after);
    const countAdmins = () => users.countWithRole(tenant, 'ADMIN');
    if (removesAdmin && (await countAdmins()) < 2) throw new GatewayError('LAST_ADMIN');
    await assertLeaseHeld();
    // Compare-and-set: a token may have changed the role since the account was read.
    if (!(await users.update(id, change, clock.now(), { role, roleSource }))) {
      throw new GatewayError('VERSION_CONFLICT');
    }
    // A lease is no fence. If two writers passed the first check, both see zero administrators and both roll back.
    if (removesAdmin && (await countAdmins()) === 0) {
      await users.update(id, { role, roleSource, roleConfirmedAt, disabledAt }, clock.now());
      throw new GatewayError('LAST_ADMIN');
    }
    return after;
  }

  const createEvent = (caller: UserPrincipal, action: string, subject: string) => ({
    ...{ kind: 'permission' as const, action, subject },
    ...{ tenant: caller.tenant, actor: actorOf(caller), door: 'admin' as const },
  });

  return {
    async list(caller, { limit, after = null, search }) {
      requireAdmin(caller);
      // One extra row shows whether there is another page.
      const page = { after, limit: limit + 1, ...(search !== undefined && { search }) };
      const found = await users.list(caller.tenant, page);
      const pageUsers = found.slice(0, limit);
      return { users: pageUsers, next: found.length > limit ? (pageUsers.at(-1)?.id ?? null) : null };
    },
    view: findUser,
    change: (caller, id, request) =>
      withAudit(audit, createEvent(caller, 'user.change', id), async () => {
        requireAdmin(caller);
        return withMaintenanceLease(parts, roleLeaseKey(caller.tenant), async (assertLeaseHeld) => {
          const user = await findUser(caller, id);
          const change = await toUserChange(user, request);
          const { role, roleSource, disabledAt } = change;
          const changed = Object.entries({ role, roleSource, disabled: disabledAt }).flatMap(
            ([name, value]) => (value === undefined ? [] : [name]),
          );
          if (changed.length === 0) return { result: user, changed };
          const after = await updateUser(user, change, assertLeaseHeld);
          await changes.publish({ topic: 'users', id });
          if (typeof disabledAt === 'number') await sessions.endAll(user);
          return { result: after, changed };
        });
      }),
    async sessionsOf(caller, id) {
      await findUser(caller, id);
      return sessions.list(id);
    },
    endSession: (caller, id, session) =>
      withAudit(audit, createEvent(caller, 'session.revoke', id), async () => {
        await findUser(caller, id);
        if (!(await sessions.endByHash(id, session))) throw new GatewayError('SESSION_NOT_FOUND');
        return { result: undefined, changed: ['session'] };
      }),
    endSessions: (caller, id) =>
      withAudit(audit, createEvent(caller, 'session.revoke_all', id), async () => {
        const user = await findUser(caller, id);
        return { result: await sessions.endAll(user), changed: ['sessions'] };
      }),
  };
}

function isActiveAdmin({ role, disabledAt }: UserRecord): boolean {
  return role === 'ADMIN' && disabledAt === null;
}
