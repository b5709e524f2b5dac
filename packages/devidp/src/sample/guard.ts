import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type { Clock } from '@behalf/kernel';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { meetsDemand } from '../exchange/demandedClaims.ts';

/** Whose tokens a server takes. */
export interface TrustedIssuer {
  /** `iss` of them. */
  readonly issuers: readonly string[];
  publicKeys(): JSONWebKeySet;
}

export interface GuardParts {
  idp: TrustedIssuer;
  /** `aud` of the tokens for this server. */
  audience: string;
  /** Each must be in the token. */
  scopes: readonly string[];
  clock: Clock;
}

/** What the server was told to do besides checking. */
export interface GuardMood {
  /** How many more tokens are refused, good as they are. */
  refusing: number;
  /** What a token must say on top: JSON of a challenge. */
  demanded: string | undefined;
}

/** `auth`: come in. Else the status and what `WWW-Authenticate` says, without the address of the metadata. */
export type Verdict =
  { readonly auth: AuthInfo } | { readonly status: 401 | 403; readonly challenge: string };

/** Signature, issuer, audience and time of a token; then its scopes and what is demanded on top. */
export function createGuard({ idp, audience, scopes, clock }: GuardParts, mood: GuardMood) {
  return async (header: string | undefined): Promise<Verdict> => {
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(header ?? '') ?? [];
    if (token === undefined) return { status: 401, challenge: '' };
    if (mood.refusing > 0) {
      mood.refusing -= 1;
      return invalid('refused on command');
    }
    let claims: JWTPayload;
    try {
      const { payload } = await jwtVerify(token, createLocalJWKSet(idp.publicKeys()), {
        issuer: [...idp.issuers],
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock.now()),
      });
      claims = payload;
    } catch {
      return invalid('the token does not hold');
    }
    if (mood.demanded !== undefined && !meetsDemand(mood.demanded, claims)) {
      const encoded = Buffer.from(mood.demanded).toString('base64');
      return { status: 401, challenge: `error="insufficient_claims", claims="${encoded}"` };
    }
    const has = scopesOf(claims);
    if (!scopes.every((scope) => has.includes(scope))) {
      return { status: 403, challenge: `error="insufficient_scope", scope="${scopes.join(' ')}"` };
    }
    const clientId = typeof claims.azp === 'string' ? claims.azp : '';
    return { auth: { token, clientId, scopes: has, expiresAt: claims.exp ?? 0, extra: claims } };
  };
}

/** `scp` as Entra says it, `scope` as RFC 9068 does. */
function scopesOf({ scp, scope }: JWTPayload): string[] {
  const text = typeof scp === 'string' ? scp : typeof scope === 'string' ? scope : '';
  return text.split(' ').filter((name) => name !== '');
}

function invalid(description: string): Verdict {
  return { status: 401, challenge: `error="invalid_token", error_description="${description}"` };
}
