import type { Clock } from '@behalf/kernel';
import { type JWTVerifyOptions, decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { KeySet, SigningKeySource } from './provider.ts';

type RefusalReason =
  | 'too_large'
  | 'malformed'
  | 'algorithm'
  | 'critical_header'
  | 'type'
  | 'signature'
  | 'unknown_key'
  | 'issuer'
  | 'audience'
  | 'expired'
  | 'inactive'
  | 'not_yet_valid'
  | 'issued_in_future'
  | 'id_token'
  | 'not_access_token'
  | 'key_bound'
  | 'subject'
  | 'tenant'
  | 'client'
  | 'authorized_party'
  | 'scope'
  | 'replayed';

/** The reason is for the log only. The sender of the token receives the same error for every reason. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly reason: RefusalReason;
  constructor(reason: RefusalReason) {
    super(`A token was refused: ${reason}`);
    this.reason = reason;
  }
}

export type Claims = Readonly<Record<string, unknown>>;

const MAX_VALUES = 200;
const MAX_VALUE_LENGTH = 256;

/** Reads a claim by its literal name, otherwise as a path. Names such as `https://example.com/roles` contain dots themselves. */
export function readClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** A claim that is a string or a list of strings. Null for another type, and for a list or string above the limits. */
export function readTextClaims(claims: Claims, name: string): readonly string[] | null {
  const value = readClaim(claims, name) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (list.length > MAX_VALUES) return null;
  return list.every((item) => typeof item === 'string' && item !== '' && item.length <= MAX_VALUE_LENGTH)
    ? (list as readonly string[])
    : null;
}

/** A string claim for display. Empty if it is not a string, is too long, or has control characters (log and header injection). */
export function readTextClaim(claims: Claims, name: string, maxLength = MAX_VALUE_LENGTH): string {
  const value = readClaim(claims, name);
  return typeof value === 'string' && value.length <= maxLength && !/\p{C}/u.test(value) ? value.trim() : '';
}

/** The tolerated difference between the clocks of the gateway and the issuer. */
export const CLOCK_TOLERANCE_MS = 30_000;
const MAX_TOKEN_LENGTH = 16 * 1024;
/** Asymmetric algorithms only. With HMAC, the public key could serve as the shared secret (RFC 8725, section 2.1). */
const ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512'] as const),
  ...(['PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512'] as const),
  ...(['EdDSA', 'Ed25519'] as const),
];

export interface VerifiedJwt {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Claims & { readonly sub: string; readonly exp: number };
  /** The key set that verified the signature. */
  readonly keys: KeySet;
}

interface VerifyJwtParts {
  readonly keys: SigningKeySource;
  readonly clock: Clock;
  readonly issuer: string;
  /** A list or a predicate. One entry of the token's `aud` must match. */
  readonly audience: readonly string[] | ((name: string) => boolean);
}

/** Verifies signature, issuer, audience and time (RFC 7519, RFC 8725). Throws TokenRefused, or OPENID_UNAVAILABLE. */
export async function verifyJwt(token: string, parts: VerifyJwtParts): Promise<VerifiedJwt> {
  const { keys, clock, issuer, audience } = parts;
  const isExpectedAudience =
    typeof audience === 'function' ? audience : (name: string) => audience.includes(name);
  if (token.length > MAX_TOKEN_LENGTH) throw new TokenRefused('too_large');
  checkHeader(token);
  const options: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    issuer,
    clockTolerance: CLOCK_TOLERANCE_MS / 1_000,
    // The time comes from the clock. The library requires a Date.
    // eslint-disable-next-line no-restricted-globals
    currentDate: new Date(clock.now()),
  };
  const verifyWith = async (set: KeySet): Promise<VerifiedJwt> => {
    const { payload, protectedHeader: header } = await jwtVerify(token, set.find, options);
    return { header, claims: checkClaims(payload, clock, isExpectedAudience), keys: set };
  };
  const current = await keys.current();
  try {
    return await verifyWith(current);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw toTokenRefused(error);
  }
  // The issuer may have rotated its keys.
  const newer = await keys.newerThan(current);
  if (newer === current) throw new TokenRefused('unknown_key');
  try {
    return await verifyWith(newer);
  } catch (error) {
    throw toTokenRefused(error);
  }
}

/** Checks the claims that a signed and an introspected token must have. */
export function checkClaims(
  payload: Claims,
  clock: Clock,
  isExpectedAudience: (audience: string) => boolean,
): VerifiedJwt['claims'] {
  const { sub, exp, iat } = payload;
  if (!readAudiences(payload).some(isExpectedAudience)) throw new TokenRefused('audience');
  if (typeof sub !== 'string' || sub === '' || sub.length > 255) throw new TokenRefused('subject');
  if (typeof exp !== 'number') throw new TokenRefused('expired');
  if (typeof iat === 'number' && iat * 1_000 > clock.now() + CLOCK_TOLERANCE_MS) {
    throw new TokenRefused('issued_in_future');
  }
  return { ...payload, sub, exp };
}

/** Whether the token has the syntax of a signed JWT. Verifies nothing. */
export function isJwt(token: string): boolean {
  try {
    decodeProtectedHeader(token);
    return true;
  } catch {
    return false;
  }
}

/** The `aud` claim as a list. */
export function readAudiences(claims: Claims): string[] {
  return [claims.aud].flat().filter((name) => typeof name === 'string');
}

/** Runs before the key lookup: a token that cannot be accepted must not cause a request to the provider. */
function checkHeader(token: string): void {
  let header;
  try {
    header = decodeProtectedHeader(token);
  } catch {
    throw new TokenRefused('malformed');
  }
  if (!ALGORITHMS.some((algorithm) => algorithm === header.alg)) throw new TokenRefused('algorithm');
  // Critical extensions must be understood (RFC 7515, section 4.1.11). Behalf supports none.
  if (header.crit !== undefined) throw new TokenRefused('critical_header');
}

const CLAIM_REASONS: Readonly<Record<string, RefusalReason>> = {
  iss: 'issuer',
  aud: 'audience',
  exp: 'expired',
  nbf: 'not_yet_valid',
  sub: 'subject',
};

function toTokenRefused(error: unknown): TokenRefused {
  if (error instanceof TokenRefused) return error;
  if (error instanceof errors.JWTExpired) return new TokenRefused('expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    return new TokenRefused(CLAIM_REASONS[error.claim] ?? 'malformed');
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return new TokenRefused('signature');
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new TokenRefused('unknown_key');
  }
  return new TokenRefused('malformed');
}
