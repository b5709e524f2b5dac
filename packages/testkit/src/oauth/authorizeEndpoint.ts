import { parseUrl } from '@behalf/contracts';
import { randomBytes } from 'node:crypto';
import type { AuthorizationSwitches, ScriptedOAuthResponse, OAuthExchange } from './authorizationServer.ts';
import type { Clients } from './clients.ts';
import { htmlReply, redirectReply } from './oauthReply.ts';

/** A code until it is redeemed. */
export interface IssuedCode {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly user: string;
  readonly scope: string;
  readonly resource: string | null;
  readonly nonce: string | null;
  /** The family created from it. A second redemption revokes the family. */
  familyId?: string;
}

interface Parts {
  readonly switches: () => AuthorizationSwitches;
  readonly issuer: () => string;
  readonly clients: Clients;
  readonly codes: Map<string, IssuedCode>;
  readonly recordSecret: (secret: string) => string;
}

interface AuthorizeEndpoint {
  handle(exchange: OAuthExchange, fields: URLSearchParams): Promise<ScriptedOAuthResponse>;
}

/** RFC 6749 section 4.1.1 with PKCE. Without a valid redirect URI, the error is shown directly. */
export function createAuthorizeEndpoint({
  switches,
  issuer,
  clients,
  codes,
  recordSecret,
}: Parts): AuthorizeEndpoint {
  function redirectBack(fields: URLSearchParams, answer: Record<string, string>): ScriptedOAuthResponse {
    const target = new URL(fields.get('redirect_uri') ?? '');
    const { iss } = switches();
    const state = fields.get('state');
    const parameters = {
      ...answer,
      ...(state !== null && { state }),
      ...(iss !== 'none' && { iss: iss === 'sent' ? issuer() : iss }),
    };
    for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value);
    return redirectReply(target);
  }

  function issueCode(fields: URLSearchParams): ScriptedOAuthResponse {
    const code = recordSecret(`code-${randomBytes(18).toString('base64url')}`);
    codes.set(code, {
      clientId: fields.get('client_id') ?? '',
      redirectUri: fields.get('redirect_uri') ?? '',
      challenge: fields.get('code_challenge'),
      user: switches().user,
      scope: fields.get('scope') ?? '',
      resource: fields.get('resource'),
      nonce: fields.get('nonce'),
    });
    return redirectBack(fields, { code });
  }

  function findError(fields: URLSearchParams): string | undefined {
    if (fields.get('response_type') !== 'code') return 'unsupported_response_type';
    const methods = switches().pkceMethods;
    const isProven = fields.get('code_challenge') !== null && fields.get('code_challenge_method') === 'S256';
    if (methods?.includes('S256') === true && !isProven) return 'invalid_request';
    if (switches().resource === 'require' && fields.get('resource') === null) return 'invalid_target';
    return undefined;
  }

  return {
    async handle({ verb }, fields) {
      const client = await clients.find(fields.get('client_id') ?? '');
      const redirectUri = fields.get('redirect_uri') ?? '';
      if (!client) return htmlReply(400, 'unknown client');
      if (!parseUrl(redirectUri) || client.redirectUris?.includes(redirectUri) === false) {
        return htmlReply(400, 'unknown redirect_uri');
      }
      const error = findError(fields);
      if (error !== undefined) return redirectBack(fields, { error });
      const decision = verb === 'POST' ? fields.get('decision') : switches().consent;
      if (decision === 'ask') return htmlReply(200, consentPage(fields));
      return decision === 'approve' ? issueCode(fields) : redirectBack(fields, { error: 'access_denied' });
    },
  };
}

function consentPage(fields: URLSearchParams): string {
  const hidden = [...fields]
    .filter(([name]) => name !== 'decision')
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`);
  return `<!doctype html><title>Authorization server</title>
<h1>Authorization server</h1>
<form method="post">${hidden.join('')}
<button name="decision" value="approve">Allow</button>
<button name="decision" value="deny">Deny</button></form>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
