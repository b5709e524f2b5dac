import type { UserChangeRequest, UserSearch } from '@behalf/contracts';
import { actorOf, type Audit, type AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { LOCAL_ISSUER } from '../identity/accounts.ts';
import type { SignInSessions } from '../identity/signInSessions.ts';
import type { ChangeFeed, SessionRecord, UserChange, UserRecord, UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { alone, membersKey, type AloneParts } from './alone.ts';
import { recorded } from './recorded.ts';
import { requireAdmin } from './requireAdmin.ts';
import type { Roles } from './roles.ts';

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

export interface UserAdminParts extends AloneParts {
  readonly users: UserStore;
  readonly sessions: Pick<SignInSessions, 'list' | 'endByHash' | 'endAll'>;
  readonly roles: Roles;
  readonly changes: ChangeFeed;
  readonly audit: Audit;
}

export function createUserAdmin(parts: UserAdminParts): UserAdmin {
  const { users, sessions, roles, changes, clock, audit } = parts;

  async function find(caller: UserPrincipal, id: string): Promise<UserRecord> {
    requireAdmin(caller);
    const user = await users.findById(id);
    if (user?.tenant !== caller.tenant) throw new GatewayError('USER_NOT_FOUND');
    return user;
  }

  async function mustExist(tenant: string, role: string): Promise<void> {
    await roles.refresh();
    if (!roles.exists(tenant, role)) throw new GatewayError('ROLE_NOT_FOUND');
  }

  /** What the request means for this account; only what differs. */
  async function decide(user: UserRecord, asked: UserChangeRequest): Promise<UserChange> {
    const { role = user.role, disabled = user.disabledAt !== null } = asked;
    const roleSource = asked.role === undefined ? (asked.roleSource ?? user.roleSource) : 'manual';
    if (roleSource === 'claim' && user.issuer === LOCAL_ISSUER) throw noClaims();
    const change: UserChange = {};
    if (role !== user.role) change.role = role;
    if (roleSource !== user.roleSource) {
      // The next token decides, and none that was issued before: times of tokens are whole seconds.
      const confirmedAt = Math.floor(clock.now() / 1_000) * 1_000 - 1;
      Object.assign(change, { roleSource, roleConfirmedAt: roleSource === 'claim' ? confirmedAt : null });
    }
    if (disabled !== (user.disabledAt !== null)) change.disabledAt = disabled ? clock.now() : null;
    // A role may have gone while its last holders were disabled.
    if (change.role !== undefined || change.disabledAt === null) await mustExist(user.tenant, role);
    return change;
  }

  /** Writes it unless nobody would be left to administer the tenant. */
  async function write(
    user: UserRecord,
    change: UserChange,
    stillAlone: () => Promise<void>,
  ): Promise<UserRecord> {
    const { id, tenant, role, roleSource, roleConfirmedAt, disabledAt } = user;
    const after = { ...user, ...change, updatedAt: clock.now() };
    const isAdminLess = isServingAdmin(user) && !isServingAdmin(after);
    const admins = () => users.countWithRole(tenant, 'ADMIN');
    if (isAdminLess && (await admins()) < 2) throw new GatewayError('LAST_ADMIN');
    await stillAlone();
    // By what was read: a token may have changed the role meanwhile.
    if (!(await users.update(id, change, clock.now(), { role, roleSource }))) {
      throw new GatewayError('VERSION_CONFLICT');
    }
    // A lease is not a fence: should two have written all the same, both see it and both take it back.
    if (isAdminLess && (await admins()) === 0) {
      await users.update(id, { role, roleSource, roleConfirmedAt, disabledAt }, clock.now());
      throw new GatewayError('LAST_ADMIN');
    }
    return after;
  }

  const attempt = (caller: UserPrincipal, action: string, subject: string) =>
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
      const shown = found.slice(0, limit);
      return { users: shown, next: found.length > limit ? (shown.at(-1)?.id ?? null) : null };
    },
    view: find,
    change: (caller, id, asked) =>
      recorded(audit, attempt(caller, 'user.change', id), async () => {
        requireAdmin(caller);
        return alone(parts, membersKey(caller.tenant), async (stillAlone) => {
          const user = await find(caller, id);
          const change = await decide(user, asked);
          const changed = namesOf(change);
          if (changed.length === 0) return { result: user, changed };
          const after = await write(user, change, stillAlone);
          await changes.publish({ topic: 'users', id });
          if (typeof change.disabledAt === 'number') await sessions.endAll(user);
          return { result: after, changed };
        });
      }),
    async sessionsOf(caller, id) {
      await find(caller, id);
      return sessions.list(id);
    },
    endSession: (caller, id, session) =>
      recorded(audit, attempt(caller, 'session.revoke', id), async () => {
        await find(caller, id);
        if (!(await sessions.endByHash(id, session))) throw new GatewayError('SESSION_NOT_FOUND');
        return { result: undefined, changed: ['session'] };
      }),
    endSessions: (caller, id) =>
      recorded(audit, attempt(caller, 'session.revoke_all', id), async () => {
        const user = await find(caller, id);
        return { result: await sessions.endAll(user), changed: ['sessions'] };
      }),
  };
}

function isServingAdmin({ role, disabledAt }: UserRecord): boolean {
  return role === 'ADMIN' && disabledAt === null;
}

function namesOf({ role, roleSource, disabledAt }: UserChange): string[] {
  const names = { role, roleSource, disabled: disabledAt };
  return Object.entries(names).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

function noClaims(): GatewayError {
  const message = 'No token speaks for an account of our own.';
  return new GatewayError('REQUEST_INVALID', {
    errors: [{ path: 'roleSource', code: 'no_claims', message }],
  });
}
