import type { Access } from '@behalf/contracts';
import { LOCAL_ISSUER, normalizeEmail } from '../identity/accounts.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';

interface AccessLists {
  readonly users: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly roles: ReadonlySet<string>;
}

/** Whether a server of the operator is for this caller by the definition alone. */
export type OperatorAccess = (principal: Principal, server: ServerSnapshot) => boolean;

/**
 * Without `access` it is for everybody; with it for those it lists, and an empty one lists nobody.
 *
 * An email names an account of our own, where it is what the account is called and there is one for each mailbox. What an
 * identity provider writes into a token's email may be whatever its user typed in, so it opens nothing here: people who
 * sign in there are listed by id, by group or by role.
 */
export function createOperatorAccess(): OperatorAccess {
  const cache = new WeakMap<Access, AccessLists>();

  function listsOf(access: Access): AccessLists {
    const lists = cache.get(access) ?? {
      users: new Set(access.users?.flatMap((user) => [user, normalizeEmail(user)])),
      groups: new Set(access.groups),
      roles: new Set(access.roles),
    };
    cache.set(access, lists);
    return lists;
  }

  return (principal, { settings: { access } }) => {
    if (!access) return true;
    const { users, groups, roles } = listsOf(access);
    const { kind, userId, role, email, issuer } = principal;
    if (roles.has(role)) return true;
    // As for stored rows: a program is listed by its role or not at all.
    if (kind === 'service') return false;
    if (users.has(userId) || (issuer === LOCAL_ISSUER && users.has(email))) return true;
    return groups.size > 0 && principal.groups.some((group) => groups.has(group));
  };
}
