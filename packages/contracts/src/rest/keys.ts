import { z } from 'zod';
import { apiKeyScopes } from '../permissions/apiKeyScopes.ts';

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
