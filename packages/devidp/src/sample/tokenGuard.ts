import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type { Clock } from '@behalf/kernel';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose';
import { satisfiesClaimsRequest } from '../exchange/claimsRequest.ts';

/** Whose tokens a server takes. */
export interface IssuerKeySource {
  /** `iss` of them. */
  readonly issuers: readonly string[];
  getPublicKeys(): JSONWebKeySet;
}

export interface TokenGuardParts {
  idp: IssuerKeySource;
  /** `aud` of the tokens for this server. */
  audience: string;
  /** Each must be in the token. */
  scopes: readonly string[];
  clock: Clock;
}

/** What the server was told to do besides checking. */
export interface GuardState {
  /** How many more tokens are refused, good as they are. */
  remainingRejections: number;
  /** What a token must say on top: JSON of a challenge. */
  requiredClaims: string | undefined;
}

/** `auth`: come in. Else the status and what `WWW-Authenticate` says, without the address of the metadata. */
export type GuardResult =
  { readonly auth: AuthInfo } | { readonly status: 401 | 403; readonly challenge: string };

/** Signature, issuer, audience and time of a token; then its scopes and what is demanded on top. */
export function createTokenGuard({ idp, audience, scopes, clock }: TokenGuardParts, state: GuardState) {
  return async (header: string | undefined): Promise<GuardResult> => {
    const [, token] = /^Bearer ([^\s,]+)$/i.exec(header ?? '') ?? [];
    if (token === undefined) return { status: 401, challenge: '' };
    if (state.remainingRejections > 0) {
      state.remainingRejections -= 1;
      return createInvalidTokenResult('rejected by the test');
    }
    let claims: JWTPayload;
    try {
      const { payload } = await jwtVerify(token, createLocalJWKSet(idp.getPublicKeys()), {
        issuer: [...idp.issuers],
        audience,
        algorithms: ['RS256'],
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock.now()),
      });
      claims = payload;
    } catch {
      return createInvalidTokenResult('the token is not valid');
    }
    if (state.requiredClaims !== undefined && !satisfiesClaimsRequest(state.requiredClaims, claims)) {
      const encoded = Buffer.from(state.requiredClaims).toString('base64');
      return { status: 401, challenge: `error="insufficient_claims", claims="${encoded}"` };
    }
    const tokenScopes = readScopes(claims);
    if (!scopes.every((scope) => tokenScopes.includes(scope))) {
      return { status: 403, challenge: `error="insufficient_scope", scope="${scopes.join(' ')}"` };
    }
    const clientId = typeof claims.azp === 'string' ? claims.azp : '';
    return { auth: { token, clientId, scopes: tokenScopes, expiresAt: claims.exp ?? 0, extra: claims } };
  };
}

/** `scp` as Entra says it, `scope` as RFC 9068 does. */
function readScopes({ scp, scope }: JWTPayload): string[] {
  const text = typeof scp === 'string' ? scp : typeof scope === 'string' ? scope : '';
  return text.split(' ').filter((name) => name !== '');
}

function createInvalidTokenResult(description: string): GuardResult {
  return { status: 401, challenge: `error="invalid_token", error_description="${description}"` };
}
