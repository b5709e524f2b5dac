import type { ImportCredentialRequest } from '@behalf/contracts';
import { createUsageError } from '../cliError.ts';

type TokenInput = Pick<
  ImportCredentialRequest,
  'accessToken' | 'refreshToken' | 'expiresIn' | 'scope' | 'issuer' | 'clientId'
>;

/** Each under the name of a token answer (RFC 6749, section 5.1) or under ours. */
const responseFields = {
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  expiresIn: 'expires_in',
  scope: 'scope',
  issuer: 'issuer',
  clientId: 'client_id',
} as const satisfies Record<keyof TokenInput, string>;

/**
 * What stands on standard input: a token alone, or a JSON object as an authorization server gives it. Never repeated, not even
 * where it is wrong.
 */
export function parseTokenInput(text: string): TokenInput {
  const trimmed = text.trim();
  if (trimmed === '') throw createUsageError('Standard input contains no token.');
  if (!trimmed.startsWith('{')) {
    if (/\s/.test(trimmed))
      throw createUsageError('Standard input contains spaces: pass one token, or JSON that begins with {.');
    return { accessToken: trimmed };
  }
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(trimmed) as Record<string, unknown>;
  } catch {
    throw createUsageError('Standard input is not a JSON object.');
  }
  const token: Record<string, unknown> = {};
  for (const [field, responseField] of Object.entries(responseFields)) {
    const value = fields[field] ?? fields[responseField];
    if (value !== undefined && value !== null) token[field] = value;
  }
  const { accessToken, expiresIn } = token;
  if (typeof accessToken !== 'string' || accessToken === '')
    throw createUsageError('Standard input contains no access_token.');
  // Some write the number as a text.
  if (typeof expiresIn === 'string' && /^\d+$/.test(expiresIn)) token['expiresIn'] = Number(expiresIn);
  return token as TokenInput;
}
