import { z } from 'zod';
import { apiKeyScopes, mcpPermissions, permissionType } from '../permissions/permissions.ts';

/** What a browser's own email field accepts, so that the form and the API agree. */
export const Email = z.email({ pattern: z.regexes.html5Email }).max(254);
/** Length is what counts (NIST SP 800-63B); the upper bound keeps hashing cheap to refuse. */
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

/** What a user sees of an account, their own included. */
export const UserView = z.object({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
});
export type UserView = z.infer<typeof UserView>;

/** `GET /api/user`: who is signed in, and what they may do. */
export const OwnUserView = UserView.extend({
  permissions: z.object({ [permissionType]: z.record(z.enum(mcpPermissions), z.boolean()) }),
  isAdmin: z.boolean(),
  /** An administrator of the tenant `default`. */
  isOperator: z.boolean(),
  /** Whether people sign in at an identity provider here. */
  offersOpenId: z.boolean(),
});
export type OwnUserView = z.infer<typeof OwnUserView>;

/** A year: whoever needs a key for longer makes a new one in time. */
const MAX_LIFETIME_DAYS = 365;

export const ApiKeyRequest = z.strictObject({
  name: z.string().trim().min(1).max(100),
  scopes: z.array(z.enum(apiKeyScopes)).min(1).max(apiKeyScopes.length),
  expiresInDays: z.int().min(1).max(MAX_LIFETIME_DAYS).default(90),
});
export type ApiKeyRequest = z.infer<typeof ApiKeyRequest>;

/** What its owner sees of a key; the key itself is shown once, when it is made. */
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

/** An application that a user agreed to, at our own authorization server. */
export const ClientView = z.object({
  /** Of what was agreed to; names nothing elsewhere. */
  id: z.string(),
  clientId: z.string(),
  /** As the application calls itself. */
  clientName: z.string(),
  /** Where its users are sent back to. */
  redirectHost: z.string(),
  createdAt: z.number(),
});
export type ClientView = z.infer<typeof ClientView>;
