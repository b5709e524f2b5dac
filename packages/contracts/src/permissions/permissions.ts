import type { InterfaceMcpServers } from '../config/config.ts';

/** The permission type of roles, and its bits. The names are LibreChat's. */
export const permissionType = 'MCP_SERVERS';
export const mcpPermissions = ['USE', 'CREATE', 'SHARE', 'SHARE_PUBLIC', 'CONFIGURE_OBO'] as const;
export type McpPermission = (typeof mcpPermissions)[number];

export const builtInRoles = ['ADMIN', 'USER'] as const;
export type BuiltInRole = (typeof builtInRoles)[number];

/** They exist in every tenant, whether or not anything is stored about them. */
export function isBuiltInRole(name: string): name is BuiltInRole {
  return (builtInRoles as readonly string[]).includes(name);
}

/** What a built-in role has when nobody said otherwise. A role that is not listed has nothing: deny by default. */
export const roleDefaults: Readonly<Record<BuiltInRole, Readonly<Record<McpPermission, boolean>>>> = {
  ADMIN: { USE: true, CREATE: true, SHARE: true, SHARE_PUBLIC: true, CONFIGURE_OBO: true },
  USER: { USE: true, CREATE: false, SHARE: false, SHARE_PUBLIC: false, CONFIGURE_OBO: false },
};

const permissionKeys = {
  USE: 'use',
  CREATE: 'create',
  SHARE: 'share',
  SHARE_PUBLIC: 'public',
  CONFIGURE_OBO: 'configureObo',
} as const satisfies Record<McpPermission, keyof InterfaceMcpServers>;

/** Some of a role's bits. One that is missing was not decided here. */
export type PartialPermissions = Partial<Record<McpPermission, boolean>>;

/**
 * The bits the file names, per role. Only these override what is stored: a default that did so would take back at every
 * start what an administrator granted. `interface.mcpServers` speaks of USER; ADMIN is meant only by its `admin` key.
 */
export function readExplicitPermissions(
  mcpServers: InterfaceMcpServers | undefined,
): Record<BuiltInRole, PartialPermissions> {
  return { ADMIN: readPermissions(mcpServers?.admin), USER: readPermissions(mcpServers) };
}

type PermissionSettings = { [K in (typeof permissionKeys)[McpPermission]]?: boolean | undefined };

function readPermissions(source: PermissionSettings | undefined): PartialPermissions {
  const bits: PartialPermissions = {};
  for (const permission of mcpPermissions) {
    const value = source?.[permissionKeys[permission]];
    if (value !== undefined) bits[permission] = value;
  }
  return bits;
}

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

/**
 * What a personal API key may be used for: to list and call tools, to create and share servers, to administer, and to have
 * the owner's sign-in exchanged for tokens of servers. The last one is asked for besides the first.
 */
export const apiKeyScopes = ['mcp', 'servers', 'admin', 'obo'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];
