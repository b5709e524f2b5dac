import { type Clock, type Fetch, LruMap, createSingleFlight } from '@behalf/kernel';
import { tokenIntrospection } from 'openid-client';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';
import { hashSecret } from '../hashSecret.ts';
import { type Claims, TokenRefused } from './verifyJwt.ts';
import { createOpenIdClient, toLoginFailure } from './openIdClient.ts';
import type { OpenIdSettings, ProviderMetadata, ProviderMetadataSource } from './provider.ts';

/** The cache lifetime of an active token. A token that the provider revoked is accepted for at most this time. */
const INTROSPECTION_TTL_MS = 30_000;
/** Shorter, because a refusal may be an answer from before the provider knew its new token. */
const REFUSED_TTL_MS = 5_000;
const MAX_ACTIVE = 20_000;
/** A separate cache: guessed tokens must not evict valid ones. */
const MAX_REFUSED = 2_000;
/** The syntax of a bearer token (RFC 6750, section 2.1). Other strings are refused without a request. */
const TOKEN_PATTERN = /^[A-Za-z0-9._~+/-]{1,4096}=*$/;

interface IntrospectionResult {
  readonly claims: Claims;
  /** The time of the next request. Never later than the expiry of the token. */
  readonly until: number;
}

/** Token introspection (RFC 7662) for opaque access tokens, with a cache. */
export interface Introspection {
  /** Rejects with TokenRefused, or with OPENID_UNAVAILABLE if the provider does not answer. */
  introspect(token: string): Promise<IntrospectionResult>;
}

interface IntrospectionParts {
  readonly settings: OpenIdSettings;
  readonly metadata: ProviderMetadataSource;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
}

export function createIntrospection(parts: IntrospectionParts): Introspection {
  const { settings, metadata, fetch, clock, log } = parts;
  const active = new LruMap<string, IntrospectionResult>(MAX_ACTIVE);
  const refused = new LruMap<string, { readonly reason: TokenRefused['reason']; readonly until: number }>(
    MAX_REFUSED,
  );
  const flights = createSingleFlight<IntrospectionResult>();

  async function requestIntrospection(token: string): Promise<Claims> {
    try {
      const client = createOpenIdClient(withIntrospectionAuth(await metadata.current()), settings, fetch);
      return await tokenIntrospection(client, token, { token_type_hint: 'access_token' });
    } catch (error) {
      log('openid_introspection_failed', { reason: toLoginFailure(error).reason });
      throw new GatewayError('OPENID_UNAVAILABLE');
    }
  }

  async function introspectAndCache(token: string, hash: string): Promise<IntrospectionResult> {
    // The lifetime starts before the request, because the response may describe the token at that time.
    const startedAt = clock.now();
    const claims = await requestIntrospection(token);
    try {
      const exp = checkResponse(claims, settings.issuer, clock.now());
      const result = { claims, until: Math.min(startedAt + INTROSPECTION_TTL_MS, exp) };
      active.set(hash, result);
      return result;
    } catch (error) {
      if (error instanceof TokenRefused)
        refused.set(hash, { reason: error.reason, until: startedAt + REFUSED_TTL_MS });
      throw error;
    }
  }

  return {
    async introspect(token) {
      if (!TOKEN_PATTERN.test(token)) throw new TokenRefused('malformed');
      const hash = hashSecret(token);
      const now = clock.now();
      const cached = active.get(hash);
      if (cached && now < cached.until) return cached;
      active.delete(hash);
      const refusal = refused.get(hash);
      if (refusal && now < refusal.until) throw new TokenRefused(refusal.reason);
      refused.delete(hash);
      return flights.run([hash], () => introspectAndCache(token, hash), { detached: true });
    },
  };
}

/** The introspection endpoint may support other client authentication methods than the token endpoint (RFC 8414, section 2). */
function withIntrospectionAuth({ document, ...rest }: ProviderMetadata): ProviderMetadata {
  const authMethods = document['introspection_endpoint_auth_methods_supported'];
  return {
    ...rest,
    document:
      authMethods === undefined
        ? document
        : { ...document, token_endpoint_auth_methods_supported: authMethods },
  };
}

/**
 * Checks what a signature and its claims would have proven, and returns the expiry. `token_type` is required: a refresh token
 * is active, too, but is not an access token.
 */
function checkResponse(claims: Claims, issuer: string, now: number): number {
  const { active, iss, exp, nbf, token_type: type, token_use: use } = claims;
  if (active !== true) throw new TokenRefused('inactive');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') throw new TokenRefused('type');
  if (use !== undefined && use !== 'access_token') throw new TokenRefused('type');
  if (iss !== undefined && iss !== issuer) throw new TokenRefused('issuer');
  if (typeof exp !== 'number' || exp * 1_000 <= now) throw new TokenRefused('expired');
  if (typeof nbf === 'number' && nbf * 1_000 > now) throw new TokenRefused('not_yet_valid');
  return exp * 1_000;
}
