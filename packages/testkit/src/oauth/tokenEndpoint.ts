import { createHash } from 'node:crypto';
import type {
  AuthorizationClient,
  AuthorizationSwitches,
  GrantedTokens,
  Json,
  OAuthAnswer,
} from './authorizationServerTypes.ts';
import type { IssuedCode } from './authorizeEndpoint.ts';
import type { Clients, ShownClient } from './clients.ts';
import type { Grants } from './grants.ts';
import type { IdTokens } from './idTokens.ts';
import { OAuthRefusal } from './oauthRefusal.ts';

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly issuer: () => string;
  readonly now: () => number;
  readonly clients: Clients;
  readonly grants: Grants;
  readonly codes: Map<string, IssuedCode>;
  readonly idTokens: IdTokens;
  readonly count: (what: 'familyRevocations') => void;
  readonly born: (secret: string) => string;
}

export interface TokenEndpoint {
  answer(shown: ShownClient | null, form: URLSearchParams): Promise<OAuthAnswer>;
}

interface Given {
  readonly tokens: GrantedTokens;
  readonly isRefresh: boolean;
  readonly user?: string | undefined;
  readonly nonce?: string | null;
}

export function createTokenEndpoint(parts: Parts): TokenEndpoint {
  const { switches, grants, codes } = parts;

  function fromCode(client: AuthorizationClient, form: URLSearchParams): Given {
    const code = codes.get(form.get('code') ?? '');
    if (!code) throw new OAuthRefusal('invalid_grant', 'unknown code');
    if (code.familyId !== undefined) {
      // RFC 6749, 4.1.2: a code that comes twice was stolen.
      grants.endFamily(code.familyId);
      parts.count('familyRevocations');
      throw new OAuthRefusal('invalid_grant', 'the code was used before');
    }
    if (code.clientId !== client.clientId)
      throw new OAuthRefusal('invalid_grant', 'the code was issued to another client');
    if (code.redirectUri !== form.get('redirect_uri')) {
      throw new OAuthRefusal('invalid_grant', 'redirect_uri does not match');
    }
    if (code.challenge !== null && code.challenge !== s256(form.get('code_verifier') ?? '')) {
      throw new OAuthRefusal('invalid_grant', 'code_verifier does not match');
    }
    const resource = form.get('resource');
    if (switches().resource !== 'ignore' && resource !== code.resource) {
      throw new OAuthRefusal('invalid_target', 'resource differs from the authorization request');
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

  function fromRefresh(client: AuthorizationClient, form: URLSearchParams): Given {
    if (switches().resource === 'require' && form.get('resource') === null) {
      throw new OAuthRefusal('invalid_target', 'resource is missing');
    }
    const wished = form.get('scope') ?? undefined;
    const tokens = grants.refresh(client.clientId, form.get('refresh_token') ?? '', wished);
    return { tokens, isRefresh: true, user: grants.subjectOf(tokens.familyId) };
  }

  function ofClient(client: AuthorizationClient, form: URLSearchParams): Given {
    if (client.authMethod === 'none') {
      throw new OAuthRefusal('unauthorized_client', 'public clients cannot use client_credentials');
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

  function give(client: AuthorizationClient, form: URLSearchParams): Given {
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return fromCode(client, form);
      case 'refresh_token':
        return fromRefresh(client, form);
      case 'client_credentials':
        return ofClient(client, form);
      default:
        throw new OAuthRefusal('unsupported_grant_type', 'unknown grant_type');
    }
  }

  function idTokenFor({ tokens, user, nonce }: Given, { clientId }: AuthorizationClient): string | undefined {
    if (user === undefined || !tokens.scope.split(' ').includes('openid')) return undefined;
    const now = Math.floor(parts.now() / 1_000);
    const claims = { iss: parts.issuer(), sub: user, aud: clientId, iat: now, exp: now + 600 };
    return parts.born(parts.idTokens.sign({ ...claims, ...(nonce != null && { nonce }) }));
  }

  return {
    async answer(shown, form) {
      const client = await parts.clients.prove(shown);
      const given = give(client, form);
      const { expiresIn, omitScope } = switches();
      const { accessToken, refreshToken, scope, expiresInS } = given.tokens;
      const said = expiresIn === undefined ? expiresInS : expiresIn;
      const idToken = idTokenFor(given, client);
      const body: Json = {
        access_token: accessToken,
        token_type: 'Bearer',
        ...(said !== null && { expires_in: said }),
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
