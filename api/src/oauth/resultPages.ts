import { flowErrors, type FlowError } from '@behalf/contracts';
import { toReturnPath } from '@behalf/gateway';
import { html, type Html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

const sentences: Readonly<Record<FlowError, string>> = {
  access_denied: 'The sign-in was declined.',
  server_error: 'The authorization server could not finish the sign-in.',
  temporarily_unavailable: 'The authorization server does not answer just now.',
  invalid_scope: 'The authorization server does not know the permissions that were asked for.',
  provider_error: 'The authorization server refused the sign-in.',
  missing_code: 'The authorization server sent nothing back.',
  missing_state: 'This does not belong to any sign-in.',
  invalid_state: 'This belongs to a sign-in at another server.',
  csrf_validation_failed: 'This sign-in was begun in another browser.',
  issuer_mismatch: 'The answer came from somebody else than the authorization server that was asked.',
  code_refused: 'The authorization server took its own answer back.',
  token_exchange_failed: 'The authorization server gave no token.',
  probe_refused: 'You are signed in, but the server refuses the token that it was given.',
  config_changed: 'The server was changed meanwhile.',
  superseded: 'Another sign-in of yours at this server was faster.',
  cancelled: 'The sign-in was cancelled.',
  expired: 'The sign-in took too long.',
  flow_used: 'This sign-in is over already.',
  flow_unknown: 'There is no such sign-in, or it took too long.',
  flow_forbidden: 'This sign-in belongs to another user or to another browser.',
  callback_failed: 'Something went wrong with the sign-in.',
};

/** Nothing in it but our own words: whatever stands in the address is looked up in a list, or is a path of ours. */
export function successPage({ returnTo }: Readonly<Record<string, unknown>>): string {
  return resultPage(
    'Connected',
    html`<h1>Connected</h1>
      <p role="status">The server is connected. You can close this window.</p>
      ${backLink(returnTo)}`,
  );
}

export function errorPage({ error, returnTo }: Readonly<Record<string, unknown>>): string {
  const known = flowErrors.find((candidate) => candidate === error) ?? 'callback_failed';
  return resultPage(
    'Not connected',
    html`<h1>Not connected</h1>
      <div class="error" role="alert"><p>${sentences[known]}</p></div>
      <p>Nothing that worked before was changed. You can close this window and try again.</p>
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
