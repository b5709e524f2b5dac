import type { ImportCredentialRequest } from '@behalf/contracts';
import { usageError } from '../cliError.ts';

type Token = Pick<
  ImportCredentialRequest,
  'accessToken' | 'refreshToken' | 'expiresIn' | 'scope' | 'issuer' | 'clientId'
>;

/** Each under the name of a token answer (RFC 6749, section 5.1) or under ours. */
const names = {
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  expiresIn: 'expires_in',
  scope: 'scope',
  issuer: 'issuer',
  clientId: 'client_id',
} as const satisfies Record<keyof Token, string>;

/**
 * What stands on standard input: a token alone, or a JSON object as an authorization server gives it. Never repeated, not even
 * where it is wrong.
 */
export function readToken(text: string): Token {
  const given = text.trim();
  if (given === '') throw usageError('Standard input holds no token.');
  if (!given.startsWith('{')) {
    if (/\s/.test(given))
      throw usageError('Standard input holds more than one word: a token is one, and JSON begins with {.');
    return { accessToken: given };
  }
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(given) as Record<string, unknown>;
  } catch {
    throw usageError('Standard input is no JSON object.');
  }
  const found: Record<string, unknown> = {};
  for (const [ours, theirs] of Object.entries(names)) {
    const value = fields[ours] ?? fields[theirs];
    if (value !== undefined && value !== null) found[ours] = value;
  }
  const { accessToken, expiresIn } = found;
  if (typeof accessToken !== 'string' || accessToken === '')
    throw usageError('Standard input holds no access_token.');
  // Some write the number as a text.
  if (typeof expiresIn === 'string' && /^\d+$/.test(expiresIn)) found['expiresIn'] = Number(expiresIn);
  return found as Token;
}
