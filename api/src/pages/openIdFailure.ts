import { html, type Html } from './html.ts';

/** What a login that failed comes back with, by the `error` in its address. Whatever else stands there is not ours. */
const MESSAGES: ReadonlyMap<unknown, string> = new Map([
  ['openid_failed', 'The sign-in at your organization failed. Try again.'],
  [
    'openid_unavailable',
    'The identity provider of your organization does not respond. Try again in a few minutes.',
  ],
  ['forbidden', 'Your organization account is not allowed to sign in here. Ask an administrator for access.'],
]);

/** Of the form of our own ids. Anybody can write an address: a text of theirs must not look as if we had said it. */
const INCIDENT_PATTERN = /^[\w-]{1,64}$/;

/** Says in the page what became of a login at the identity provider. */
export function openIdFailure({ error, incident }: Readonly<Record<string, unknown>>): Html {
  const message = MESSAGES.get(error);
  if (message === undefined) return html``;
  const hasIncident = typeof incident === 'string' && INCIDENT_PATTERN.test(incident);
  return html`<div class="error" role="alert">
    <p>${message}</p>
    ${hasIncident ? html`<p>Incident <code>${incident}</code></p>` : html``}
  </div>`;
}
