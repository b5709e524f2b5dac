import { html, type Html } from './html.ts';

/** What a login that failed comes back with, by the `error` in its address. Whatever else stands there is not ours. */
const SENTENCES: ReadonlyMap<unknown, string> = new Map([
  ['openid_failed', 'The sign-in at your organisation did not succeed. Please try again.'],
  [
    'openid_unavailable',
    'The sign-in of your organisation does not answer. Please try again in a few minutes.',
  ],
  [
    'forbidden',
    'Your organisation knows you, but you may not sign in here. An administrator can change that.',
  ],
]);

/** Of the form of our own ids. Anybody can write an address: a text of theirs must not look as if we had said it. */
const INCIDENT = /^[\w-]{1,64}$/;

/** Says in the page what became of a login at the identity provider. */
export function openIdFailure({ error, incident }: Readonly<Record<string, unknown>>): Html {
  const sentence = SENTENCES.get(error);
  if (sentence === undefined) return html``;
  const known = typeof incident === 'string' && INCIDENT.test(incident);
  return html`<div class="error" role="alert">
    <p>${sentence}</p>
    ${known ? html`<p>Incident <code>${incident}</code></p>` : html``}
  </div>`;
}
