import { html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

/** What somebody is asked. Everything a client says of itself is text, and nothing more. */
export interface Asked {
  readonly uid: string;
  /** Proves that our own page was answered. */
  readonly token: string;
  readonly clientName: string;
  /** Who vouches for the name: the host of its document, the operator, or nobody. */
  readonly from:
    { readonly kind: 'document'; readonly host: string } | { readonly kind: 'operator' | 'registered' };
  readonly redirectHost: string;
  /** It is a program on the user's own machine. */
  readonly isLocal: boolean;
  readonly resource: string;
  readonly userName: string;
}

export function consentPage(asked: Asked): string {
  const { uid, token, clientName, redirectHost, isLocal, resource, userName } = asked;
  return page(
    `Connect ${clientName}`,
    html`<h1>Connect ${clientName}?</h1>
      <p>It calls itself <strong>${clientName}</strong>. ${voucher(asked.from)}</p>
      <p>
        If you agree, it can use the tools of this gateway as <strong>${userName}</strong>: see them, call
        them, and read what they answer, also of servers where you are signed in.
      </p>
      <p class="hint">Endpoint: <code>${resource}</code></p>
      <p>You will be sent to <strong>${redirectHost}</strong>.</p>
      ${
        isLocal
          ? html`<p class="error" role="note">
              That is a program on your own machine. Any program there could have taken its name: go on only
              if you have just started this yourself.
            </p>`
          : html``
      }
      <p class="hint">If you did not ask for this, close this page. Somebody may have sent you the link.</p>
      <form method="post" action="/as/interaction/${uid}">
        <input type="hidden" name="token" value="${token}" />
        <button type="submit" name="decision" value="allow">Agree</button>
        <button type="submit" name="decision" value="deny" class="quiet">Refuse</button>
      </form>`,
  );
}

function voucher(from: Asked['from']) {
  if (from.kind === 'document') return html`Its description stands at <strong>${from.host}</strong>.`;
  if (from.kind === 'operator') return html`It was set up by the operator of this gateway.`;
  return html`It registered itself here: nobody has checked this name.`;
}

/**
 * A form that ends in a redirect leads, for a browser, wherever that goes: on to the identity provider and back to the client.
 * Nobody frames this page: a click that somebody else aimed is no consent.
 */
export function consentPolicy(redirectUri: string, identityOrigin: string | null): string {
  const { protocol, origin } = new URL(redirectUri);
  // An address of its own scheme has no origin.
  const client = origin === 'null' ? protocol : origin;
  return [
    "default-src 'none'",
    "style-src 'self'",
    `form-action 'self' https: ${client}${identityOrigin === null ? '' : ` ${identityOrigin}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** The codes of OAuth are words of a fixed list; a client's own words are not shown. */
export function failedPage(error: string): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      <p class="error" role="alert">The application’s request was refused: <code>${error}</code>.</p>
      <p>Go back to the application and try again from there.</p>`,
  );
}
