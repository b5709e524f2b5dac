import { html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

/** What somebody is asked. Everything a client says of itself is text, and nothing more. */
export interface ConsentPageData {
  readonly uid: string;
  /** Proves that our own page was answered. */
  readonly token: string;
  readonly clientName: string;
  /** Who vouches for the name: the host of its document, the operator, or nobody. */
  readonly source:
    { readonly kind: 'document'; readonly host: string } | { readonly kind: 'operator' | 'registered' };
  readonly redirectHost: string;
  /** It is a program on the user's own machine. */
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
              you just started this yourself.
            </p>`
          : html``
      }
      <p class="hint">
        If you did not start this, close this page. Another person may have sent you the link.
      </p>
      <form method="post" action="/as/interaction/${uid}">
        <input type="hidden" name="token" value="${token}" />
        <button type="submit" name="decision" value="allow">Agree</button>
        <button type="submit" name="decision" value="deny" class="quiet">Refuse</button>
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
 * A form that ends in a redirect leads, for a browser, wherever that goes: on to the identity provider and back to the client.
 * Nobody frames this page: a click that somebody else aimed is no consent.
 */
export function consentPolicy(redirectUri: string, identityProviderOrigin: string | null): string {
  const { protocol, origin } = new URL(redirectUri);
  // An address of its own scheme has no origin.
  const client = origin === 'null' ? protocol : origin;
  return [
    "default-src 'none'",
    "style-src 'self'",
    `form-action 'self' https: ${client}${identityProviderOrigin === null ? '' : ` ${identityProviderOrigin}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** The codes of OAuth are words of a fixed list; a client's own words are not shown. */
export function connectionFailedPage(error: string): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      <p class="error" role="alert">The application’s request was refused: <code>${error}</code>.</p>
      <p>Go back to the application and try again from there.</p>`,
  );
}
