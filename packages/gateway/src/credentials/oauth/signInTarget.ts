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
import type { ServerSnapshot } from '../../definitions/definition.ts';
import { canonicalizeUrl } from './addresses.ts';

/** The `oauth` section of a definition with rendered templates. Absent values are discovered. */
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
  /** The unrendered section, for values without templates. */
  readonly raw: Partial<OAuthSettings>;
}

/** A server as the sign-in uses it, rendered with the values of one holder. */
export interface SignInTarget {
  readonly server: ServerSnapshot;
  /** The URL that calls are sent to. */
  readonly url: string;
  /** The URL that tokens are bound to. */
  readonly canonicalUrl: string;
  /** The operator wrote the definition, and no other user changed a field that decides about tokens. */
  readonly isOperatorDefined: boolean;
  readonly oauth: SignInSettings;
  /** `oauth_headers`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined if a placeholder has no value, or if the server type has no sign-in. */
export function toSignInTarget(server: ServerSnapshot, values: TemplateValues): SignInTarget | undefined {
  const rendered = renderSignInTarget(server, values);
  return rendered?.isComplete ? rendered.target : undefined;
}

/** Without fields that depend on a user's values. Undefined if the URL itself depends on them. */
export function targetWithoutUserValues(server: ServerSnapshot): SignInTarget | undefined {
  return renderSignInTarget(server, {})?.target;
}

function renderSignInTarget(
  server: ServerSnapshot,
  values: TemplateValues,
): { readonly target: SignInTarget; readonly isComplete: boolean } | undefined {
  const { settings } = server;
  if (settings.type === 'stdio') return undefined;
  let isComplete = true;
  const render = (template: Template | undefined, renderWith: typeof renderUrl): string | undefined => {
    if (template === undefined) return undefined;
    const rendered = renderWith(template, values);
    if (rendered.ok) return rendered.text;
    isComplete = false;
    return undefined;
  };
  const url = render(settings.url, renderUrl) ?? '';
  const { oauth: raw = {} as Partial<OAuthSettings> } = settings;
  const secret = render(raw.client_secret, renderTemplate);
  const oauth: SignInSettings = {
    authorizationUrl: render(raw.authorization_url, renderUrl),
    tokenUrl: render(raw.token_url, renderUrl),
    revocationUrl: render(raw.revocation_endpoint, renderUrl),
    clientId: render(raw.client_id, renderTemplate),
    clientSecret: secret === undefined ? undefined : new HiddenText(secret),
    scope: render(raw.scope, renderTemplate),
    audience: render(raw.audience, renderTemplate),
    resource: render(raw.resource, renderTemplate),
    issuer: raw.issuer,
    raw,
  };
  const headers = Object.fromEntries(
    Object.entries(settings.oauth_headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      render(value, renderHeader) ?? '',
    ]),
  );
  const canonicalUrl = canonicalizeUrl(url);
  if (canonicalUrl === undefined) return undefined;
  const target = { server, url, canonicalUrl, isOperatorDefined: isOperatorDefined(server), oauth, headers };
  return { target, isComplete };
}

/** A definition of the file, or an override of it that changes only texts and the icon. */
function isOperatorDefined({ source, audience, securityDecision }: ServerSnapshot): boolean {
  if (source === 'yaml') return true;
  return source === 'config' && audience === 'yaml-server' && securityDecision?.decidedBy === null;
}

/** Server definitions and the values of their users. Each sign-in step reads both again. */
export interface SignInServers {
  /** The current definition for one tenant. Drafts require a store read. */
  get(tenant: string, serverId: string): ServerSnapshot | undefined | Promise<ServerSnapshot | undefined>;
  /** The values that a holder (`user:<id>`, or `@app`) entered. Rejects if the store is unreachable. */
  readHolderValues(server: ServerSnapshot, tenant: string, holder: string): Promise<TemplateValues>;
}

/** Undefined if a placeholder has no value. */
export async function resolveSignInTarget(
  servers: Pick<SignInServers, 'readHolderValues'>,
  server: ServerSnapshot,
  { tenant, holder }: { readonly tenant: string; readonly holder: string },
): Promise<SignInTarget | undefined> {
  return toSignInTarget(server, await servers.readHolderValues(server, tenant, holder));
}

/** Why a server offers no sign-in, in a sentence for the user. */
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

/** A sign-in cannot start. The message contains no text from the server or its authorization server. */
export class SignInImpossible extends GatewayError {
  readonly problem: SignInProblem;
  constructor(problem: SignInProblem, cause?: unknown) {
    super('MCP_AUTHORIZATION_UNAVAILABLE', { detail: problemDetails[problem], cause });
    this.problem = problem;
  }
}

/** A temporary failure: a retry may succeed. */
export function createUnavailableError(
  cause?: unknown,
  code: ErrorCode = 'UPSTREAM_AUTH_UNAVAILABLE',
): GatewayError {
  return new GatewayError(code, { cause });
}
