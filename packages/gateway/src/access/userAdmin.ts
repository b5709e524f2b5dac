import type { UserChangeRequest, UserSearch } from '@behalf/contracts';
import { actorOf, type Audit, type AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { LOCAL_ISSUER } from '../identity/accounts.ts';
import type { SignInSessions } from '../identity/signInSessions.ts';
import type { ChangeFeed, SessionRecord, UserChange, UserRecord, UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { withMaintenanceLease, roleLeaseKey, type LeaseParts } from '../replication/withLease.ts';
import { withAudit } from '../audit/withAudit.ts';
import { type Roles, requireAdmin } from './roles.ts';

/** Accounts of the caller's own tenant, by its administrators; somebody of another tenant does not exist. */
export interface UserAdmin {
  /** In the order of their ids; `next` is the `after` of the next page. */
  list(caller: UserPrincipal, page: UserSearch): Promise<{ users: UserRecord[]; next: string | null }>;
  view(caller: UserPrincipal, id: string): Promise<UserRecord>;
  change(caller: UserPrincipal, id: string, change: UserChangeRequest): Promise<UserRecord>;
  sessionsOf(caller: UserPrincipal, id: string): Promise<SessionRecord[]>;
  endSession(caller: UserPrincipal, id: string, session: string): Promise<void>;
  endSessions(caller: UserPrincipal, id: string): Promise<number>;
}

export interface UserAdminParts extends LeaseParts {
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

  async function requireRoleExists(tenant: string, role: string): Promise<void> {
    await roles.refresh();
    if (!roles.exists(tenant, role)) throw new GatewayError('ROLE_NOT_FOUND');
  }

  /** What the request means for this account; only what differs. */
  async function toUserChange(user: UserRecord, request: UserChangeRequest): Promise<UserChange> {
    const { role = user.role, disabled = user.disabledAt !== null } = request;
    const roleSource = request.role === undefined ? (request.roleSource ?? user.roleSource) : 'manual';
    if (roleSource === 'claim' && user.issuer === LOCAL_ISSUER) throw createNoClaimsError();
    const change: UserChange = {};
    if (role !== user.role) change.role = role;
    if (roleSource !== user.roleSource) {
      // The next token decides, and none that was issued before: times of tokens are whole seconds.
      const confirmedAt = Math.floor(clock.now() / 1_000) * 1_000 - 1;
      Object.assign(change, { roleSource, roleConfirmedAt: roleSource === 'claim' ? confirmedAt : null });
    }
    if (disabled !== (user.disabledAt !== null)) change.disabledAt = disabled ? clock.now() : null;
    // A role may have gone while its last holders were disabled.
    if (change.role !== undefined || change.disabledAt === null) await requireRoleExists(user.tenant, role);
    return change;
  }

  /** Writes it unless nobody would be left to administer the tenant. */
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
    // By what was read: a token may have changed the role meanwhile.
    if (!(await users.update(id, change, clock.now(), { role, roleSource }))) {
      throw new GatewayError('VERSION_CONFLICT');
    }
    // A lease is not a fence: should two have written all the same, both see it and both take it back.
    if (removesAdmin && (await countAdmins()) === 0) {
      await users.update(id, { role, roleSource, roleConfirmedAt, disabledAt }, clock.now());
      throw new GatewayError('LAST_ADMIN');
    }
    return after;
  }

  const createEvent = (caller: UserPrincipal, action: string, subject: string) =>
    ({
      kind: 'permission',
      action,
      subject,
      tenant: caller.tenant,
      actor: actorOf(caller),
      door: 'admin',
    }) satisfies Partial<AuditEvent>;

  return {
    async list(caller, { limit, after = null, search }) {
      requireAdmin(caller);
      // One more than asked for tells whether there is another page.
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
          const changed = listChangedNames(change);
          if (changed.length === 0) return { result: user, changed };
          const after = await updateUser(user, change, assertLeaseHeld);
          await changes.publish({ topic: 'users', id });
          if (typeof change.disabledAt === 'number') await sessions.endAll(user);
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

function listChangedNames({ role, roleSource, disabledAt }: UserChange): string[] {
  const names = { role, roleSource, disabled: disabledAt };
  return Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function createNoClaimsError(): GatewayError {
  const message = 'A local account has no identity provider token.';
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'roleSource', code: 'no_claims', message }],
  });
}
