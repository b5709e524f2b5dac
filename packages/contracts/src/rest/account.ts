import { z } from 'zod';
import { apiKeyScopes, mcpPermissions, permissionType } from '../permissions/permissions.ts';

/** The pattern of the browser's email field, so that form and API agree. */
export const Email = z.email({ pattern: z.regexes.html5Email }).max(254);
/** Length matters most (NIST SP 800-63B). The upper bound limits the cost of hashing. */
export const Password = z.string().min(8).max(256);

export const LoginRequest = z.strictObject({ email: Email, password: z.string().min(1).max(256) });
export type LoginRequest = z.infer<typeof LoginRequest>;

export const SetupRequest = z.strictObject({
  token: z.string().min(1).max(128),
  email: Email,
  name: z.string().trim().min(1).max(100),
  password: Password,
});
export type SetupRequest = z.infer<typeof SetupRequest>;

/** The public fields of an account. */
export const UserView = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
});
export type UserView = z.infer<typeof UserView>;

/** `GET /api/user`: the signed-in user and their permissions. */
export const OwnUserView = UserView.extend({
  permissions: z.object({ [permissionType]: z.record(z.enum(mcpPermissions), z.boolean()) }),
  isAdmin: z.boolean(),
  /** An administrator of the tenant `default`. */
  isOperator: z.boolean(),
  /** Whether users can sign in at an identity provider. */
  offersOpenId: z.boolean(),
});
export type OwnUserView = z.infer<typeof OwnUserView>;

/** The maximum lifetime of an API key is one year. */
const MAX_LIFETIME_DAYS = 365;

export const ApiKeyRequest = z.strictObject({
  name: z.string().trim().min(1).max(100),
  scopes: z.array(z.enum(apiKeyScopes)).min(1).max(apiKeyScopes.length),
  expiresInDays: z.int().min(1).max(MAX_LIFETIME_DAYS).default(90),
});
export type ApiKeyRequest = z.infer<typeof ApiKeyRequest>;

/** A key as its owner sees it. The key itself is shown once, when it is created. */
export const ApiKeyView = z.object({
  id: z.string(),
  name: z.string(),
  hint: z.string(),
  scopes: z.array(z.string()),
  createdAt: z.number(),
  expiresAt: z.number(),
  lastUsedAt: z.number().nullable(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;

/** An OAuth client that the user granted access at the gateway's own authorization server. */
export const ClientView = z.object({
  /** The ID of the grant. Not valid anywhere else. */
  id: z.string(),
  clientId: z.string(),
  /** The name that the client registered. */
  clientName: z.string(),
  /** The host of the client's redirect URI. */
  redirectHost: z.string(),
  createdAt: z.number(),
});
export type ClientView = z.infer<typeof ClientView>;
