/** What a principal may do with one server. EDIT never implies CONFIGURE_OBO, which is a bit of the role. */
export const aclBits = { VIEW: 1, EDIT: 2, DELETE: 4, SHARE: 8 } as const;
export type AclBit = keyof typeof aclBits;

/** LibreChat's named sets of bits. */
export const aclRoles = { mcpServer_viewer: 1, mcpServer_editor: 3, mcpServer_owner: 15 } as const;
export type AclRole = keyof typeof aclRoles;

/** Every bit there is. */
export const ALL_ACL_BITS = aclRoles.mcpServer_owner;

export const principalTypes = ['user', 'group', 'role', 'public'] as const;
export type PrincipalType = (typeof principalTypes)[number];

export function hasAclBit(bits: number, bit: AclBit): boolean {
  return (bits & aclBits[bit]) === aclBits[bit];
}

/** The largest named set that these bits hold; undefined for none. */
export function findAclRole(bits: number): AclRole | undefined {
  const matchingRoles = (Object.keys(aclRoles) as AclRole[]).filter(
    (role) => (bits & aclRoles[role]) === aclRoles[role],
  );
  return matchingRoles.sort((a, b) => aclRoles[b] - aclRoles[a])[0];
}
