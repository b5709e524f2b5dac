import type { ErrorCode, SignInProblem } from '@behalf/contracts';
import { HiddenText } from '@behalf/kernel';
import {
  type OAuthSettings,
  type Template,
  type TemplateValues,
  renderHeader,
  renderTemplate,
  renderUrl,
} from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ServerSnapshot } from '../../servers/definition.ts';
import { canonicalizeUrl } from './addresses.ts';

/** What the definition says of the sign-in, filled in. What is absent is discovered. */
interface SignInSettings {
  readonly authorizationUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly revocationUrl?: string | undefined;
  readonly clientId?: string | undefined;
  readonly clientSecret?: HiddenText | undefined;
  readonly scope?: string | undefined;
  readonly audience?: string | undefined;
  readonly resource?: string | undefined;
  readonly issuer?: string | undefined;
  /** Everything of it that is no text. */
  readonly raw: Partial<OAuthSettings>;
}

/** A server as sign-ins see it, with the values of one holder filled in. */
export interface SignInTarget {
  readonly server: ServerSnapshot;
  /** Where calls go. */
  readonly url: string;
  /** What tokens are bound to. */
  readonly canonicalUrl: string;
  /** The operator wrote it, and nobody else changed what decides about tokens. */
  readonly isOperatorDefined: boolean;
  readonly oauth: SignInSettings;
  /** `oauth_headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where something cannot be filled in, or nobody can sign in at all. */
export function toSignInTarget(server: ServerSnapshot, values: TemplateValues): SignInTarget | undefined {
  const renderer = new TemplateRenderer(values);
  const target = renderSignInTarget(server, renderer);
  return renderer.isIncomplete ? undefined : target;
}

/** As far as it is the same for everybody: what depends on a user's value is left out. Undefined where its address does. */
export function targetWithoutUserValues(server: ServerSnapshot): SignInTarget | undefined {
  return renderSignInTarget(server, new TemplateRenderer({}));
}

function renderSignInTarget(server: ServerSnapshot, renderer: TemplateRenderer): SignInTarget | undefined {
  const { settings } = server;
  if (settings.type === 'stdio') return undefined;
  const url = renderer.url(settings.url) ?? '';
  const { oauth: oauthSettings = {} as Partial<OAuthSettings> } = settings;
  const secret = renderer.text(oauthSettings.client_secret);
  const oauth: SignInSettings = {
    authorizationUrl: renderer.url(oauthSettings.authorization_url),
    tokenUrl: renderer.url(oauthSettings.token_url),
    revocationUrl: renderer.url(oauthSettings.revocation_endpoint),
    clientId: renderer.text(oauthSettings.client_id),
    clientSecret: secret === undefined ? undefined : new HiddenText(secret),
    scope: renderer.text(oauthSettings.scope),
    audience: renderer.text(oauthSettings.audience),
    resource: renderer.text(oauthSettings.resource),
    issuer: oauthSettings.issuer,
    raw: oauthSettings,
  };
  const headers = Object.fromEntries(
    Object.entries(settings.oauth_headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      renderer.header(value) ?? '',
    ]),
  );
  const canonicalAddress = canonicalizeUrl(url);
  if (canonicalAddress === undefined) return undefined;
  return {
    server,
    url,
    canonicalUrl: canonicalAddress,
    isOperatorDefined: isOperatorDefined(server),
    oauth,
    headers,
  };
}

/** A definition of the file, or one that an administrator changed nothing of but texts and the picture. */
function isOperatorDefined({ source, audience, securityDecision: secured }: ServerSnapshot): boolean {
  if (source === 'yaml') return true;
  return source === 'config' && audience === 'yaml-server' && secured?.decidedBy === null;
}

/** Remembers whether anything was missing. */
class TemplateRenderer {
  isIncomplete = false;
  readonly #values: TemplateValues;
  constructor(values: TemplateValues) {
    this.#values = values;
  }

  text(template: Template | undefined): string | undefined {
    return this.#take(template, renderTemplate);
  }

  url(template: Template | undefined): string | undefined {
    return this.#take(template, renderUrl);
  }

  header(template: Template | undefined): string | undefined {
    return this.#take(template, renderHeader);
  }

  #take(template: Template | undefined, render: typeof renderUrl): string | undefined {
    if (template === undefined) return undefined;
    const rendered = render(template, this.#values);
    if (rendered.ok) return rendered.text;
    this.isIncomplete = true;
    return undefined;
  }
}

/** Servers, and what their holders fill in: sign-ins ask for both anew each time. */
export interface SignInServers {
  /** As it is now, for one tenant. One that nobody saved yet has to be looked up. */
  get(tenant: string, serverId: string): ServerSnapshot | undefined | Promise<ServerSnapshot | undefined>;
  /** What a holder (`user:<id>`, or `@app`) has entered. Rejects while nobody can say. */
  readHolderValues(server: ServerSnapshot, tenant: string, holder: string): Promise<TemplateValues>;
}

/** Undefined where something of it cannot be filled in. */
export async function resolveSignInTarget(
  servers: Pick<SignInServers, 'readHolderValues'>,
  server: ServerSnapshot,
  { tenant, holder }: { readonly tenant: string; readonly holder: string },
): Promise<SignInTarget | undefined> {
  return toSignInTarget(server, await servers.readHolderValues(server, tenant, holder));
}

/** Why nobody can sign in at a server: for the log, and in a sentence for whoever tries. */
const problemDetails = {
  no_metadata: 'The server publishes no OAuth metadata.',
  no_authorization_server: 'The server does not name a usable authorization server.',
  resource_mismatch: 'The resource in the server’s metadata does not match the server’s URL.',
  metadata_invalid: 'The OAuth metadata of the server or of its authorization server is invalid.',
  issuer_mismatch:
    'The issuer in the authorization server’s metadata does not match the issuer that the server names.',
  pkce_missing: 'The authorization server does not support PKCE with S256.',
  dpop_unsupported:
    'Tokens for this server must be bound to a key (DPoP), but its authorization server does not support DPoP with ES256.',
  audience_missing:
    'No resource is sent to this authorization server, and the scopes do not name the audience of the token.',
  no_client:
    'No OAuth client is configured for this server, and the authorization server does not support client registration.',
  registration_refused: 'The authorization server refused to register the gateway as a client.',
  client_key_unusable: 'The private key of the OAuth client cannot be used.',
  not_fillable: 'The definition of the server contains placeholders that have no value.',
  not_offered: 'This server does not offer user sign-in.',
} as const satisfies Record<SignInProblem, string>;

export type { SignInProblem };

/** Ends a sign-in before it begins. Nothing that an outsider wrote is repeated. */
export class SignInImpossible extends GatewayError {
  readonly problem: SignInProblem;
  constructor(problem: SignInProblem, cause?: unknown) {
    super('MCP_AUTHORIZATION_UNAVAILABLE', { detail: problemDetails[problem], cause });
    this.problem = problem;
  }
}

/** It may work in a moment. */
export function createUnavailableError(
  cause?: unknown,
  code: ErrorCode = 'UPSTREAM_AUTH_UNAVAILABLE',
): GatewayError {
  return new GatewayError(code, { cause });
}
