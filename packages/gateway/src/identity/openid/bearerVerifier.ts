import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { hashSecret } from '../hashSecret.ts';
import { accessTokenKind, clientOf, scopesOf } from './accessToken.ts';
import type { Introspection } from './introspection.ts';
import type { KeySet, SigningKeySource } from './keySource.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import { TokenRefused } from './tokenRefused.ts';
import { readVerifiedIdentity, type VerifiedToken } from './verifiedIdentity.ts';
import { readAudiences, checkClaims, isJwt, verifyJwt, type VerifiedJwt } from './verifyJwt.ts';

const MAX_ENTRIES = 20_000;
/** Its issuer said that it is an access token. */
const INTROSPECTED = { typ: 'at+jwt' };

export interface VerifiedBearer extends VerifiedToken {
  /** Which endpoints it was issued for; null: the gateway as a whole. */
  readonly endpoints: readonly string[] | null;
  readonly scopes: readonly string[];
  /** Until when its issuer need not be asked about it again; absent where its signature says everything. */
  readonly checkedUntil?: number;
}

export interface BearerVerifier {
  /** Rejects with AUTH_TOKEN_INVALID, the same for every reason, or with OPENID_UNAVAILABLE. */
  verify(token: string): Promise<VerifiedBearer>;
}

export interface BearerVerifierParts {
  readonly settings: OpenIdSettings;
  readonly keys: SigningKeySource;
  /** Asks about what is no JWT; null: such tokens are refused. */
  readonly introspection: Introspection | null;
  /** Whether an audience is the address of an endpoint of ours (RFC 8707): such a token is good there and nowhere else. */
  readonly isEndpoint: (audience: string) => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Access tokens of the issuer for this gateway. Only what was accepted is remembered: guesses push nobody out. */
export function createBearerVerifier(parts: BearerVerifierParts): BearerVerifier {
  const { settings, keys, introspection, isEndpoint, clock, log } = parts;
  const { issuer, allowedClients } = settings;
  const gatewayAudiences = acceptedAudiences(settings);
  const isAcceptedAudience = (name: string) => gatewayAudiences.includes(name) || isEndpoint(name);
  const cache = new Map<string, { readonly verified: VerifiedBearer; readonly keys: KeySet }>();

  function evaluateClaims({ header, claims }: Pick<VerifiedJwt, 'header' | 'claims'>): VerifiedBearer {
    const kind = accessTokenKind(header, claims);
    if (allowedClients !== null && !allowedClients.includes(clientOf(claims))) {
      throw new TokenRefused('client');
    }
    const sources = { access: claims, id: claims, userinfo: claims };
    const audiences = readAudiences(claims);
    const endpoints = audiences.some((name) => gatewayAudiences.includes(name))
      ? null
      : audiences.filter(isEndpoint);
    const identity = readVerifiedIdentity({ kind, claims, sources, settings, log });
    return { ...identity, endpoints, scopes: scopesOf(claims) };
  }

  function cacheVerified(hash: string, entry: { verified: VerifiedBearer; keys: KeySet }): void {
    cache.delete(hash);
    // The map keeps insertion order: the first one was verified longest ago.
    if (cache.size >= MAX_ENTRIES) cache.delete(cache.keys().next().value ?? '');
    cache.set(hash, entry);
  }

  /** What has the form of a JWT is judged as one: a signature that does not hold is not made good by an answer. */
  async function verifyByIntrospection(introspector: Introspection, token: string): Promise<VerifiedBearer> {
    const { claims: introspected, until } = await introspector.introspect(token);
    const claims = checkClaims(introspected, clock, isAcceptedAudience);
    return { ...evaluateClaims({ header: INTROSPECTED, claims }), checkedUntil: until };
  }

  return {
    async verify(token) {
      const hash = hashSecret(token);
      const cached = cache.get(hash);
      // Keys that changed, or are too old to rely on, end what they once proved.
      if (cached && cached.keys === (await keys.current()) && clock.now() < cached.verified.expiresAt) {
        return cached.verified;
      }
      cache.delete(hash);
      try {
        if (introspection && !isJwt(token)) return await verifyByIntrospection(introspection, token);
        const signed = await verifyJwt(token, { keys, clock, issuer, audience: isAcceptedAudience });
        const verified = evaluateClaims(signed);
        if (clock.now() < verified.expiresAt) cacheVerified(hash, { verified, keys: signed.keys });
        return verified;
      } catch (error) {
        if (!(error instanceof TokenRefused)) throw error;
        log('bearer_refused', { reason: error.reason });
        throw new GatewayError('AUTH_TOKEN_INVALID');
      }
    },
  };
}

/** The one that is named, else the client itself in both forms that Entra writes. */
function acceptedAudiences({ audience, clientId }: OpenIdSettings): readonly string[] {
  if (audience !== null) return [audience];
  if (clientId !== null) return [clientId, `api://${clientId}`];
  throw new RangeError('Bearer tokens need an audience or a client id');
}
