import { z } from 'zod';
import { mcpPermissions, permissionType } from '../permissions/permissions.ts';

/** ASCII only, because a role name that looks like another one could be assigned by mistake. */
export const RoleName = z
  .string()
  .max(64)
  .regex(/^[A-Za-z][A-Za-z0-9_ -]*$/, 'Use letters, digits, spaces, - and _, and begin with a letter.')
  .refine((name) => name.trim() === name, 'The name may not end with a space.');

const description = z.string().trim().max(500);

/** The MCP_SERVERS permissions, as `PUT /api/roles/:role/mcp-servers` accepts them. */
export const PermissionsRequest = z.partialRecord(z.enum(mcpPermissions), z.boolean());
export type PermissionsRequest = z.infer<typeof PermissionsRequest>;

const permissions = z.strictObject({ [permissionType]: PermissionsRequest });

/** `POST /api/admin/roles`. */
export const RoleRequest = z.strictObject({
  name: RoleName,
  description: description.default(''),
  permissions: permissions.optional(),
});
export type RoleRequest = z.infer<typeof RoleRequest>;

/** `PATCH /api/admin/roles/:name`. Absent fields are unchanged. */
export const RoleChangeRequest = z
  .strictObject({ description: description.optional(), permissions: permissions.optional() })
  .refine((change) => Object.keys(change).length > 0, 'The request contains no change.');
export type RoleChangeRequest = z.infer<typeof RoleChangeRequest>;

const bits = z.record(z.enum(mcpPermissions), z.boolean());

/** The fields of a role that its members can read. */
export const RoleView = z.object({ name: z.string(), permissions: z.object({ [permissionType]: bits }) });
export type RoleView = z.infer<typeof RoleView>;

export const AdminRoleView = RoleView.extend({
  description: z.string(),
  builtIn: z.boolean(),
  /** The permissions that the configuration file sets. */
  managed: z.array(z.enum(mcpPermissions)),
  /** 0 if nothing is stored. */
  version: z.number(),
  updatedAt: z.number().nullable(),
});
export type AdminRoleView = z.infer<typeof AdminRoleView>;

/** `PATCH /api/admin/users/:id`. */
export const UserChangeRequest = z
  .strictObject({
    role: z.string().min(1).max(64).optional(),
    /** `claim`: tokens set the role again, starting with the next one. */
    roleSource: z.enum(['manual', 'claim']).optional(),
    disabled: z.boolean().optional(),
  })
  .refine((change) => Object.keys(change).length > 0, 'The request contains no change.')
  .refine(({ role, roleSource }) => role === undefined || roleSource !== 'claim', {
    path: ['roleSource'],
    message: 'A role that is set here is manual.',
  });
export type UserChangeRequest = z.infer<typeof UserChangeRequest>;

/** The query of `GET /api/admin/users`. */
export const UserSearch = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  after: z.string().min(1).max(256).optional(),
  search: z.string().trim().min(1).max(100).optional(),
});
export type UserSearch = z.infer<typeof UserSearch>;

/** An account as an administrator sees it. */
export const AdminUserView = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  issuer: z.string(),
  role: z.string(),
  roleSource: z.enum(['manual', 'claim']),
  roleConfirmedAt: z.number().nullable(),
  disabled: z.boolean(),
  disabledAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type AdminUserView = z.infer<typeof AdminUserView>;

/** `GET /api/admin/users`; pass `next` as `after` for the next page. */
export const AdminUsersView = z.object({ users: z.array(AdminUserView), next: z.string().nullable() });
export type AdminUsersView = z.infer<typeof AdminUsersView>;

/** A browser session. The ID cannot be used to sign in. */
export const SessionView = z.object({
  id: z.string(),
  via: z.enum(['password', 'openid', 'client']),
  createdAt: z.number(),
  expiresAt: z.number(),
  /** Whether the caller uses this session. */
  current: z.boolean(),
});
export type SessionView = z.infer<typeof SessionView>;
