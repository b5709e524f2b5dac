import { createHash } from 'node:crypto';
import { isLoopbackHost, parseUrl } from '@behalf/contracts';
import type Provider from 'oidc-provider';
import { type Client } from 'oidc-provider';
import { html, page } from '../pages/page.ts';

/** The authorization request of a client, for the consent page. */
export interface Interaction extends Omit<ConsentPageData, 'token' | 'userName'> {
  readonly provider: Provider;
  readonly client: Client;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly resources: readonly string[];
  /** The requested OpenID scopes. */
  readonly scopes: readonly string[];
}

const MAX_NAME_LENGTH = 80;

type InteractionDetails = Awaited<ReturnType<Provider['interactionDetails']>>;

export function toInteraction(
  { uid, params }: InteractionDetails,
  client: Client,
  isOperatorClient: boolean,
): Omit<Interaction, 'provider' | 'client'> {
  const { clientId } = client;
  const redirectUri = toText(params['redirect_uri']);
  const resources = [params['resource'] ?? []].flat().map(String);
  const document = parseUrl(clientId);
  return {
    uid,
    clientId,
    redirectUri,
    resources,
    scopes: toText(params['scope'])
      .split(' ')
      .filter((word) => word !== ''),
    clientName: toDisplayName(client),
    source: isOperatorClient
      ? { kind: 'operator' }
      : document?.protocol === 'https:'
        ? { kind: 'document', host: document.host }
        : { kind: 'registered' },
    redirectHost: toDisplayHost(redirectUri),
    isLocalRedirect: isLocalRedirect(redirectUri),
    resource: resources.join(', '),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Removes control and format characters: a change of the writing direction could make one name look like another. */
function toDisplayName({ clientName = '' }: Client): string {
  const name = clientName.replace(/\p{C}/gu, '').trim().slice(0, MAX_NAME_LENGTH);
  return name === '' ? 'An unnamed application' : name;
}

/** A custom scheme has no verifiable host, so the scheme itself is shown. */
function toDisplayHost(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri);
  // Loopback redirects use any free port (RFC 8252 section 7.3).
  if (protocol === 'http:') return hostname;
  return protocol === 'https:' ? host : protocol;
}

/** A token that proves that the consent page was submitted. Computing it requires the secret of the session cookie. */
export function createConsentToken(uid: string, sessionSecret: string): string {
  return createHash('sha256').update(`consent:${uid}:${sessionSecret}`).digest('base64url');
}

/** The content of the consent page. Values from the client are escaped. */
interface ConsentPageData {
  readonly uid: string;
  /** Proves that the consent page was submitted. */
  readonly token: string;
  readonly clientName: string;
  /** The source of the client name: its metadata document, the configuration, or the client itself. */
  readonly source:
    { readonly kind: 'document'; readonly host: string } | { readonly kind: 'operator' | 'registered' };
  readonly redirectHost: string;
  /** The redirect leads to a program on the user’s computer. */
  readonly isLocalRedirect: boolean;
  readonly resource: string;
  readonly userName: string;
}

export function consentPage(request: ConsentPageData): string {
  const { uid, token, clientName, redirectHost, isLocalRedirect, resource, userName } = request;
  return page(
    `Connect ${clientName}`,
    html`<h1>Connect ${clientName}?</h1>
      <p>
        The application identifies itself as <strong>${clientName}</strong>.
        ${describeClientSource(request.source)}
      </p>
      <p>
        If you allow access, the application can use the tools of this gateway as
        <strong>${userName}</strong>: list and call them, and read their results, including servers where you
        are signed in.
      </p>
      <p class="hint">Endpoint: <code>${resource}</code></p>
      <p>You will be sent to <strong>${redirectHost}</strong>.</p>
      ${
        isLocalRedirect
          ? html`<p class="error" role="note">
              This is a program on your own computer. Any local program could use this name: continue only if
              you just started to connect it yourself.
            </p>`
          : html``
      }
      <p class="hint">
        If you did not start this connection, close this page. Another person may have sent you the link.
      </p>
      <form method="post" action="/as/interaction/${uid}">
        <input type="hidden" name="token" value="${token}" />
        <button type="submit" name="decision" value="allow">Allow</button>
        <button type="submit" name="decision" value="deny" class="quiet">Deny</button>
      </form>`,
  );
}

function describeClientSource(source: ConsentPageData['source']) {
  if (source.kind === 'document')
    return html`The metadata of the application is published at <strong>${source.host}</strong>.`;
  if (source.kind === 'operator') return html`The operator of this gateway configured the application.`;
  return html`The application registered itself. Its name is not verified.`;
}

/**
 * The content security policy of the consent page. Browsers apply `form-action` to redirects after a form as well, so it
 * allows the identity provider and the client. Framing is forbidden (clickjacking).
 */
export function consentPolicy(redirectUri: string, identityProviderOrigin: string | null): string {
  const { protocol, origin } = new URL(redirectUri);
  // A URL with a custom scheme has no origin.
  const client = origin === 'null' ? protocol : origin;
  return [
    "default-src 'none'",
    "style-src 'self'",
    `form-action 'self' https: ${client}${identityProviderOrigin === null ? '' : ` ${identityProviderOrigin}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** `error`: an OAuth error code. Texts of the client are not shown. */
export function connectionFailedPage(error: string): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      <p class="error" role="alert">The application’s request was refused: <code>${error}</code>.</p>
      <p>Go back to the application and try again from there.</p>`,
  );
}

/** Whether the redirect leads to a program on the user’s computer. Any other local program could receive it instead. */
export function isLocalRedirect(redirectUri: string): boolean {
  const { protocol, hostname = '' } = parseUrl(redirectUri) ?? {};
  return protocol !== 'https:' || isLoopbackHost(hostname);
}
