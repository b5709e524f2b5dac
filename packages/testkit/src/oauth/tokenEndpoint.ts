import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import type {
  AuthorizationClient,
  AuthorizationSwitches,
  GrantedTokens,
  Json,
  ScriptedOAuthResponse,
} from './authorizationServer.ts';
import type { IssuedCode } from './authorizeEndpoint.ts';
import type { Clients, PresentedClient } from './clients.ts';
import type { Grants } from './grants.ts';
import { OAuthErrorResponse } from './oauthReply.ts';

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly issuer: () => string;
  readonly now: () => number;
  readonly clients: Clients;
  readonly grants: Grants;
  readonly codes: Map<string, IssuedCode>;
  readonly idTokens: IdTokens;
  readonly count: (what: 'familyRevocations') => void;
  readonly recordSecret: (secret: string) => string;
}

interface TokenEndpoint {
  handle(presented: PresentedClient | null, form: URLSearchParams): Promise<ScriptedOAuthResponse>;
}

interface IssuedToken {
  readonly tokens: GrantedTokens;
  readonly isRefresh: boolean;
  readonly user?: string | undefined;
  readonly nonce?: string | null;
}

export function createTokenEndpoint(parts: Parts): TokenEndpoint {
  const { switches, grants, codes } = parts;

  function redeemCode(client: AuthorizationClient, form: URLSearchParams): IssuedToken {
    const code = codes.get(form.get('code') ?? '');
    if (!code) throw new OAuthErrorResponse('invalid_grant', 'unknown code');
    if (code.familyId !== undefined) {
      // A code that is used twice was stolen (RFC 6749 section 4.1.2).
      grants.endFamily(code.familyId);
      parts.count('familyRevocations');
      throw new OAuthErrorResponse('invalid_grant', 'the code was used before');
    }
    if (code.clientId !== client.clientId)
      throw new OAuthErrorResponse('invalid_grant', 'the code was issued to another client');
    if (code.redirectUri !== form.get('redirect_uri')) {
      throw new OAuthErrorResponse('invalid_grant', 'redirect_uri does not match');
    }
    if (code.challenge !== null && code.challenge !== s256(form.get('code_verifier') ?? '')) {
      throw new OAuthErrorResponse('invalid_grant', 'code_verifier does not match');
    }
    const resource = form.get('resource');
    if (switches().resource !== 'ignore' && resource !== code.resource) {
      throw new OAuthErrorResponse('invalid_target', 'resource differs from the authorization request');
    }
    const tokens = grants.issue({
      clientId: client.clientId,
      user: code.user,
      scope: code.scope,
      ...(resource !== null && { resource }),
    });
    code.familyId = tokens.familyId;
    return { tokens, isRefresh: false, user: code.user, nonce: code.nonce };
  }

  function redeemRefreshToken(client: AuthorizationClient, form: URLSearchParams): IssuedToken {
    if (switches().resource === 'require' && form.get('resource') === null) {
      throw new OAuthErrorResponse('invalid_target', 'resource is missing');
    }
    const requestedScope = form.get('scope') ?? undefined;
    const tokens = grants.refresh(client.clientId, form.get('refresh_token') ?? '', requestedScope);
    return { tokens, isRefresh: true, user: grants.subjectOf(tokens.familyId) };
  }

  function issueClientCredentials(client: AuthorizationClient, form: URLSearchParams): IssuedToken {
    if (client.authMethod === 'none') {
      throw new OAuthErrorResponse('unauthorized_client', 'public clients cannot use client_credentials');
    }
    const resource = form.get('resource');
    const tokens = grants.issue({
      clientId: client.clientId,
      user: client.clientId,
      scope: form.get('scope') ?? '',
      ...(resource !== null && { resource }),
      refreshToken: false,
    });
    return { tokens, isRefresh: false };
  }

  function issueGrant(client: AuthorizationClient, form: URLSearchParams): IssuedToken {
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return redeemCode(client, form);
      case 'refresh_token':
        return redeemRefreshToken(client, form);
      case 'client_credentials':
        return issueClientCredentials(client, form);
      default:
        throw new OAuthErrorResponse('unsupported_grant_type', 'unknown grant_type');
    }
  }

  function idTokenFor(
    { tokens, user, nonce }: IssuedToken,
    { clientId }: AuthorizationClient,
  ): string | undefined {
    if (user === undefined || !tokens.scope.split(' ').includes('openid')) return undefined;
    const now = Math.floor(parts.now() / 1_000);
    const claims = { iss: parts.issuer(), sub: user, aud: clientId, iat: now, exp: now + 600 };
    return parts.recordSecret(parts.idTokens.sign({ ...claims, ...(nonce != null && { nonce }) }));
  }

  return {
    async handle(shown, form) {
      const client = await parts.clients.authenticate(shown);
      const issued = issueGrant(client, form);
      const { expiresIn, omitScope } = switches();
      const { accessToken, refreshToken, scope, expiresInS } = issued.tokens;
      const shownExpiresIn = expiresIn === undefined ? expiresInS : expiresIn;
      const idToken = idTokenFor(issued, client);
      const body: Json = {
        access_token: accessToken,
        token_type: 'Bearer',
        ...(shownExpiresIn !== null && { expires_in: shownExpiresIn }),
        ...(refreshToken !== undefined && { refresh_token: refreshToken }),
        ...(!omitScope && scope !== '' && { scope }),
        ...(idToken !== undefined && { id_token: idToken }),
      };
      return { status: 200, body };
    },
  };
}

function s256(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

interface IdTokens {
  readonly jwks: Json;
  sign(claims: Json): string;
}

/** Signs ID tokens with a key of this process. */
export function createIdTokens(): IdTokens {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = 'fixture';
  const encode = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return {
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'ES256' }] },
    sign(claims) {
      const signed = `${encode({ alg: 'ES256', kid, typ: 'JWT' })}.${encode(claims)}`;
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      return `${signed}.${signature.toString('base64url')}`;
    },
  };
}
