import type { VerifiedToken } from './verifiedIdentity.ts';

/** Whether a tenant has a role of this name. */
export type RoleExists = (tenant: string, name: string) => boolean | Promise<boolean>;

/**
 * The role a token names. The issuer may make a user ADMIN; a program never, and one without a known role has none. Of
 * several, the first by name: the order in a token says nothing.
 */
export async function roleFromToken(verified: VerifiedToken, roleExists: RoleExists): Promise<string> {
  const { kind, tenant, roles, hasAdminRole } = verified;
  const isUser = kind === 'user';
  if (isUser && hasAdminRole) return 'ADMIN';
  for (const name of [...roles].sort()) {
    // What everybody is does not hide what somebody is besides.
    if (name !== 'ADMIN' && name !== 'USER' && (await roleExists(tenant, name))) return name;
  }
  return isUser || roles.includes('USER') ? 'USER' : '';
}
