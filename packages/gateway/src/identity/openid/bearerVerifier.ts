import type { Clock } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { secretHash } from '../secretHash.ts';
import { accessTokenKind, clientOf } from './accessToken.ts';
import type { KeySet, KeySource } from './keySource.ts';
import type { OpenIdSettings } from './openIdSettings.ts';
import { TokenRefused } from './tokenRefused.ts';
import { verifiedIdentity, type VerifiedToken } from './verifiedIdentity.ts';
import { verifySigned, type Signed } from './verifySigned.ts';

const MOST_ENTRIES = 20_000;

export interface BearerVerifier {
  /** Rejects with AUTH_TOKEN_INVALID, the same for every reason, or with OPENID_UNAVAILABLE. */
  verify(token: string): Promise<VerifiedToken>;
}

export interface BearerVerifierParts {
  readonly settings: OpenIdSettings;
  readonly keys: KeySource;
  readonly clock: Clock;
  readonly log: Log;
}

/** Access tokens of the issuer for this gateway. Only what was accepted is remembered: guesses push nobody out. */
export function createBearerVerifier({ settings, keys, clock, log }: BearerVerifierParts): BearerVerifier {
  const { issuer, allowedClients } = settings;
  const audience = acceptedAudiences(settings);
  const accepted = new Map<string, { readonly verified: VerifiedToken; readonly keys: KeySet }>();

  function judge({ header, claims }: Signed): VerifiedToken {
    const kind = accessTokenKind(header, claims);
    if (allowedClients !== null && !allowedClients.includes(clientOf(claims))) {
      throw new TokenRefused('client');
    }
    const sources = { access: claims, id: claims, userinfo: claims };
    return verifiedIdentity({ kind, claims, sources, settings, log });
  }

  function remember(hash: string, entry: { verified: VerifiedToken; keys: KeySet }): void {
    accepted.delete(hash);
    // The map keeps insertion order: the first one was verified longest ago.
    if (accepted.size >= MOST_ENTRIES) accepted.delete(accepted.keys().next().value ?? '');
    accepted.set(hash, entry);
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
