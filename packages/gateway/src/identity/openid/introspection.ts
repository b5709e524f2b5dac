import { createSingleFlight, type Clock, type Fetch } from '@behalf/kernel';
import { tokenIntrospection } from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { secretHash } from '../secretHash.ts';
import type { Claims } from './claims.ts';
import { loginFailure } from './loginFailure.ts';
import { openIdClient } from './openIdClient.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import type { ProviderMetadata, ProviderMetadataSource } from './providerMetadata.ts';
import { TokenRefused } from './tokenRefused.ts';

/** For how long an answer counts: a token that is ended at the provider opens nothing after that. */
export const INTROSPECTED_MS = 30_000;
/** A refusal counts for less: it may have been asked a moment before the provider knew its own token. */
const REFUSED_MS = 5_000;
const MOST_ACTIVE = 20_000;
/** Kept apart: guesses push out nobody who is known. */
const MOST_REFUSED = 2_000;
/** RFC 6750, section 2.1. What no token can look like is not asked about. */
const TOKEN = /^[A-Za-z0-9._~+/-]{1,4096}=*$/;

export interface Introspected {
  readonly claims: Claims;
  /** Until when it need not be asked again; never after the token's own end. */
  readonly until: number;
}

/** What the provider says of tokens that say nothing themselves (RFC 7662). */
export interface Introspection {
  /** Rejects with TokenRefused, or with OPENID_UNAVAILABLE: what cannot be told opens nothing. */
  ask(token: string): Promise<Introspected>;
}

export interface IntrospectionParts {
  readonly settings: OpenIdSettings;
  readonly metadata: ProviderMetadataSource;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
}

export function createIntrospection(parts: IntrospectionParts): Introspection {
  const { settings, metadata, fetch, clock, log } = parts;
  const active = new Map<string, Introspected>();
  const refused = new Map<string, { readonly reason: TokenRefused['reason']; readonly until: number }>();
  const flights = createSingleFlight<Introspected>();

  async function answerFor(token: string): Promise<Claims> {
    try {
      const client = openIdClient(asAsked(await metadata.current()), settings, fetch);
      return await tokenIntrospection(client, token, { token_type_hint: 'access_token' });
    } catch (error) {
      log('openid_introspection_failed', { reason: loginFailure(error).reason });
      throw new GatewayError('OPENID_UNAVAILABLE');
    }
  }

  async function look(token: string, hash: string): Promise<Introspected> {
    // Counted from before the question: the answer is no younger than that.
    const begun = clock.now();
    const claims = await answerFor(token);
    try {
      const exp = checkAnswer(claims, settings.issuer, clock.now());
      const found = { claims, until: Math.min(begun + INTROSPECTED_MS, exp) };
      keep(active, MOST_ACTIVE, hash, found);
      return found;
    } catch (error) {
      if (error instanceof TokenRefused)
        keep(refused, MOST_REFUSED, hash, { reason: error.reason, until: begun + REFUSED_MS });
      throw error;
    }
  }

  return {
    async ask(token) {
      if (!TOKEN.test(token)) throw new TokenRefused('malformed');
      const hash = secretHash(token);
      const now = clock.now();
      const known = active.get(hash);
      if (known && now < known.until) return known;
      active.delete(hash);
      const refusal = refused.get(hash);
      if (refusal && now < refusal.until) throw new TokenRefused(refusal.reason);
      refused.delete(hash);
      return flights.run([hash], () => look(token, hash), { detached: true });
    },
  };
}

/** The map keeps insertion order: the first one was asked about longest ago. */
function keep<T>(map: Map<string, T>, most: number, hash: string, entry: T): void {
  map.delete(hash);
  if (map.size >= most) map.delete(map.keys().next().value ?? '');
  map.set(hash, entry);
}

/** A provider may take other proofs of a client here than where tokens are given (RFC 8414, section 2). */
function asAsked({ document, ...rest }: ProviderMetadata): ProviderMetadata {
  const own = document['introspection_endpoint_auth_methods_supported'];
  return {
    ...rest,
    document: own === undefined ? document : { ...document, token_endpoint_auth_methods_supported: own },
  };
}

/**
 * What a signature would have proven, in the answer of the provider itself; when the token ends. A refresh token is active
 * too, and opens no door: only what is said to be a bearer token is one.
 */
function checkAnswer(claims: Claims, issuer: string, now: number): number {
  const { active, iss, exp, nbf, token_type: type, token_use: use } = claims;
  if (active !== true) throw new TokenRefused('inactive');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw new TokenRefused('type');
  if (use !== undefined && use !== 'access_token') throw new TokenRefused('type');
  if (iss !== undefined && iss !== issuer) throw new TokenRefused('issuer');
  if (typeof exp !== 'number' || exp * 1_000 <= now) throw new TokenRefused('expired');
  if (typeof nbf === 'number' && nbf * 1_000 > now) throw new TokenRefused('not_yet_valid');
  return exp * 1_000;
}
