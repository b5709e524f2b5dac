import { z } from 'zod';
import { mcpPermissions, permissionType } from '../permissions/permissions.ts';

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
