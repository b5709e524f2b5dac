import type { InterfaceMcpServers } from '../config/config.ts';

/** The permission type of roles and its permissions. The names are LibreChat's. */
export const permissionType = 'MCP_SERVERS';
export const mcpPermissions = ['USE', 'CREATE', 'SHARE', 'SHARE_PUBLIC', 'CONFIGURE_OBO'] as const;
export type McpPermission = (typeof mcpPermissions)[number];

export const builtInRoles = ['ADMIN', 'USER'] as const;
export type BuiltInRole = (typeof builtInRoles)[number];

/** Built-in roles exist in every tenant, even if nothing is stored about them. */
export function isBuiltInRole(name: string): name is BuiltInRole {
  return (builtInRoles as readonly string[]).includes(name);
}

/** The default permissions of built-in roles. All other roles have none: deny by default. */
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

/** A subset of a role's permissions. Missing ones are not set here. */
export type PartialPermissions = Partial<Record<McpPermission, boolean>>;

/**
 * The permissions that the file sets, per role. Only these override stored ones: if defaults did, each start would
 * revoke what an administrator granted. `interface.mcpServers` sets USER; only its key `admin` sets ADMIN.
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

/**
 * The permissions of a principal on one server. EDIT never implies CONFIGURE_OBO, which is a permission of the
 * role.
 */
export const aclBits = { VIEW: 1, EDIT: 2, DELETE: 4, SHARE: 8 } as const;
export type AclBit = keyof typeof aclBits;

/** LibreChat's named combinations of permissions. */
export const aclRoles = { mcpServer_viewer: 1, mcpServer_editor: 3, mcpServer_owner: 15 } as const;
export type AclRole = keyof typeof aclRoles;

export const ALL_ACL_BITS = aclRoles.mcpServer_owner;

export const principalTypes = ['user', 'group', 'role', 'public'] as const;
export type PrincipalType = (typeof principalTypes)[number];

export function hasAclBit(bits: number, bit: AclBit): boolean {
  return (bits & aclBits[bit]) === aclBits[bit];
}

/** The largest named combination that these bits include; undefined if none. */
export function findAclRole(bits: number): AclRole | undefined {
  const matchingRoles = (Object.keys(aclRoles) as AclRole[]).filter(
    (role) => (bits & aclRoles[role]) === aclRoles[role],
  );
  return matchingRoles.sort((a, b) => aclRoles[b] - aclRoles[a])[0];
}

/**
 * The scopes of an API key: `mcp` to list and call tools, `servers` to create and share servers, `admin` to
 * administer, and `obo` to exchange the owner's sign-in for tokens of servers. `obo` requires `mcp` in addition.
 */
export const apiKeyScopes = ['mcp', 'servers', 'admin', 'obo'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];
