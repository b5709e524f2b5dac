import { z } from 'zod';
import { aclRoles, type AclRole } from '../permissions/permissions.ts';

const AclRoleId = z.enum(Object.keys(aclRoles) as [AclRole, ...AclRole[]]);

/** The principal types that a server can be shared with. */
export const SharedWith = z.enum(['user', 'group', 'role']);
export type SharedWith = z.infer<typeof SharedWith>;

/** LibreChat's front end sends back whole entries of a response. Only these fields are read. */
const principal = z.object({ type: SharedWith, id: z.string().min(1).max(256) });

/** `PUT /api/permissions/mcpServer/:id`. */
export const ShareRequest = z.object({
  updated: z
    .array(principal.extend({ accessRoleId: AclRoleId }))
    .max(200)
    .default([]),
  removed: z.array(principal).max(200).default([]),
  public: z.boolean(),
  publicAccessRoleId: AclRoleId.nullish(),
});
export type ShareRequest = z.infer<typeof ShareRequest>;

export const SharedPrincipalView = z.object({
  type: SharedWith,
  id: z.string(),
  name: z.string(),
  email: z.string().optional(),
  accessRoleId: AclRoleId,
});
export type SharedPrincipalView = z.infer<typeof SharedPrincipalView>;

export const SharingView = z.object({
  principals: z.array(SharedPrincipalView),
  public: z.boolean(),
  publicAccessRoleId: AclRoleId.optional(),
});
export type SharingView = z.infer<typeof SharingView>;

/** `GET /api/permissions/mcpServer/:id`. */
export const ServerPermissionsView = SharingView.extend({
  resourceType: z.literal('mcpServer'),
  resourceId: z.string(),
});
export type ServerPermissionsView = z.infer<typeof ServerPermissionsView>;

/** One entry of `GET /api/permissions/mcpServer/roles`. */
export const AclRoleView = z.object({
  accessRoleId: AclRoleId,
  name: z.string(),
  description: z.string(),
  permBits: z.number(),
});
export type AclRoleView = z.infer<typeof AclRoleView>;

/** The query of `GET /api/permissions/search-principals`. */
export const PrincipalSearch = z.object({
  q: z.string().trim().min(2).max(100),
  limit: z.coerce.number().int().min(1).max(50).default(10),
  types: z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : value.split(',')))
    .pipe(z.array(SharedWith))
    .optional(),
});
export type PrincipalSearch = z.infer<typeof PrincipalSearch>;

export const FoundPrincipal = z.object({
  type: SharedWith,
  id: z.string(),
  name: z.string(),
  email: z.string().optional(),
  source: z.literal('local'),
});
export type FoundPrincipal = z.infer<typeof FoundPrincipal>;

/** `GET /api/permissions/search-principals`, in the form of LibreChat's front end. */
export const PrincipalSearchView = z.object({
  query: z.string(),
  limit: z.number(),
  types: z.array(SharedWith).optional(),
  results: z.array(FoundPrincipal),
  count: z.number(),
  sources: z.object({ local: z.number(), entra: z.number() }),
});
export type PrincipalSearchView = z.infer<typeof PrincipalSearchView>;
