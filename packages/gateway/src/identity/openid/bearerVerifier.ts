import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { secretHash } from '../secretHash.ts';
import { accessTokenKind, clientOf, scopesOf } from './accessToken.ts';
import type { Introspection } from './introspection.ts';
import type { KeySet, KeySource } from './keySource.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import { TokenRefused } from './tokenRefused.ts';
import { verifiedIdentity, type VerifiedToken } from './verifiedIdentity.ts';
import { audiencesOf, checkClaims, isSigned, verifySigned, type Signed } from './verifySigned.ts';

const MOST_ENTRIES = 20_000;
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
  readonly keys: KeySource;
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
  const whole = acceptedAudiences(settings);
  const audience = (name: string) => whole.includes(name) || isEndpoint(name);
  const accepted = new Map<string, { readonly verified: VerifiedBearer; readonly keys: KeySet }>();

  function judge({ header, claims }: Pick<Signed, 'header' | 'claims'>): VerifiedBearer {
    const kind = accessTokenKind(header, claims);
    if (allowedClients !== null && !allowedClients.includes(clientOf(claims))) {
      throw new TokenRefused('client');
    }
    const sources = { access: claims, id: claims, userinfo: claims };
    const named = audiencesOf(claims);
    const endpoints = named.some((name) => whole.includes(name)) ? null : named.filter(isEndpoint);
    const identity = verifiedIdentity({ kind, claims, sources, settings, log });
    return { ...identity, endpoints, scopes: scopesOf(claims) };
  }

  function remember(hash: string, entry: { verified: VerifiedBearer; keys: KeySet }): void {
    accepted.delete(hash);
    // The map keeps insertion order: the first one was verified longest ago.
    if (accepted.size >= MOST_ENTRIES) accepted.delete(accepted.keys().next().value ?? '');
    accepted.set(hash, entry);
  }

  /** What has the form of a JWT is judged as one: a signature that does not hold is not made good by an answer. */
  async function introspect(asked: Introspection, token: string): Promise<VerifiedBearer> {
    const { claims: said, until } = await asked.ask(token);
    const claims = checkClaims(said, clock, audience);
    return { ...judge({ header: INTROSPECTED, claims }), checkedUntil: until };
  }

  return {
    async verify(token) {
      const hash = secretHash(token);
      const known = accepted.get(hash);
      // Keys that changed, or are too old to rely on, end what they once proved.
      if (known && known.keys === (await keys.current()) && clock.now() < known.verified.expiresAt) {
        return known.verified;
      }
      accepted.delete(hash);
      try {
        if (introspection && !isSigned(token)) return await introspect(introspection, token);
        const signed = await verifySigned(token, { keys, clock, issuer, audience });
        const verified = judge(signed);
        if (clock.now() < verified.expiresAt) remember(hash, { verified, keys: signed.keys });
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
