import type { FoundPrincipal, PrincipalSearch } from '@behalf/contracts';
import type { UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Roles } from './roles.ts';

export interface SearchParts {
  readonly users: Pick<UserStore, 'list'>;
  readonly roles: Roles;
}

/** Whom of their own tenant somebody may share with. Groups are known from tokens alone: the caller's own are offered. */
export async function searchPrincipals(
  { users, roles }: SearchParts,
  principal: UserPrincipal,
  { q, limit, types = ['user', 'group', 'role'] }: PrincipalSearch,
): Promise<FoundPrincipal[]> {
  roles.requirePermission(principal, 'SHARE');
  const { tenant } = principal;
  const matches = (name: string) => name.toLowerCase().includes(q.toLowerCase());
  const toNamedPrincipals = (type: 'group' | 'role', names: readonly string[]): FoundPrincipal[] =>
    types.includes(type)
      ? names.filter(matches).map((name) => ({ type, id: name, name, source: 'local' }))
      : [];

  const matchingUsers = types.includes('user')
    ? await users.list(tenant, { after: null, limit, search: q })
    : [];
  const foundUsers: FoundPrincipal[] = matchingUsers
    .filter(({ disabledAt }) => disabledAt === null)
    .map(({ id, name, email }) => ({ type: 'user', id, name, email, source: 'local' }));
  const rolesAndGroups = [
    ...toNamedPrincipals(
      'role',
      roles.list(tenant).map(({ name }) => name),
    ),
    ...toNamedPrincipals('group', principal.groups),
  ];
  return [...foundUsers, ...rolesAndGroups].slice(0, limit);
}
