import { flowErrors, type FlowError } from '@behalf/contracts';
import { toReturnPath } from '@behalf/gateway';
import { html, type Html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

const messages: Readonly<Record<FlowError, string>> = {
  access_denied: 'The sign-in was declined.',
  server_error: 'The authorization server could not complete the sign-in.',
  temporarily_unavailable: 'The authorization server is temporarily unavailable.',
  invalid_scope: 'The authorization server does not support the requested permissions.',
  provider_error: 'The authorization server refused the sign-in.',
  missing_code: 'The authorization server returned no authorization code.',
  missing_state: 'This response does not belong to any sign-in.',
  invalid_state: 'This response belongs to a sign-in at another server.',
  csrf_validation_failed: 'This sign-in was started in another browser.',
  issuer_mismatch: 'The response came from a different authorization server than the one requested.',
  code_refused: 'The authorization server rejected the authorization code.',
  token_exchange_failed: 'The authorization server issued no token.',
  probe_refused: 'You are signed in, but the server rejects the token.',
  config_changed: 'The server configuration changed during the sign-in.',
  superseded: 'You completed another sign-in at this server first.',
  cancelled: 'The sign-in was canceled.',
  expired: 'The sign-in took too long.',
  flow_used: 'This sign-in was already completed.',
  flow_unknown: 'This sign-in does not exist or has expired.',
  flow_forbidden: 'This sign-in belongs to another user or to another browser.',
  callback_failed: 'The sign-in failed.',
};

/** Nothing in it but our own words: whatever stands in the address is looked up in a list, or is a path of ours. */
export function connectSuccessPage({ returnTo }: Readonly<Record<string, unknown>>): string {
  return resultPage(
    'Connected',
    html`<h1>Connected</h1>
      <p role="status">The server is connected. You can close this window.</p>
      ${backLink(returnTo)}`,
  );
}

export function connectErrorPage({ error, returnTo }: Readonly<Record<string, unknown>>): string {
  const errorCode = flowErrors.find((candidate) => candidate === error) ?? 'callback_failed';
  return resultPage(
    'Not connected',
    html`<h1>Not connected</h1>
      <div class="error" role="alert"><p>${messages[errorCode]}</p></div>
      <p>Your existing connections are unchanged. You can close this window and try again.</p>
      ${backLink(returnTo)}`,
  );
}

function resultPage(title: string, body: Html): string {
  return page(
    title,
    html`${body}
      <script src="/oauth/result.js" defer></script>`,
  );
}

function backLink(returnTo: unknown): Html {
  const path = toReturnPath(typeof returnTo === 'string' ? returnTo : undefined);
  return html`<p><a class="button" href="${path}" autofocus>Back to Behalf</a></p>`;
}
