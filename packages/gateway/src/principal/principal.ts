import type { UserRecord } from '../ports/index.ts';

/** Who is calling: never a request, never a database row. */
export interface UserPrincipal {
  readonly kind: 'user';
  readonly userId: string;
  readonly tenant: string;
  readonly role: string;
  readonly email: string;
  readonly name: string;
}

export type Principal = UserPrincipal;

export function principalOf(user: UserRecord): UserPrincipal {
  const { id: userId, tenant, role, email, name } = user;
  return Object.freeze({ kind: 'user', userId, tenant, role, email, name });
}

/** One text per person, for keys: never two for one, never one for two. */
export function principalKey({ tenant, userId }: Pick<Principal, 'tenant' | 'userId'>): string {
  return JSON.stringify([tenant, userId]);
}
