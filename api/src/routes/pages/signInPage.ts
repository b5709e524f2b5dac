import type { GatewayError } from '@behalf/gateway';
import { type Html, emailField, errorBox, html, page } from './page.ts';

const EMPTY = html``;
const noAccountsHint = html`<p class="empty">
  There is no account yet. The gateway printed a setup link when it started; the link is valid for 15 minutes.
  To get a new link, restart the gateway.
</p>`;

const localFormHint = html`<p class="hint">Or sign in with an account of this gateway:</p>`;

interface SignInState {
  /** True if browsers can also sign in at the OpenID Connect provider. */
  offersOpenId: boolean;
  email?: string;
  error?: GatewayError;
  /** The message about a failed login at the identity provider. */
  failure?: Html;
  /** There are no accounts yet. */
  noAccounts?: boolean;
  /** The path to continue with after the sign-in. */
  returnTo?: string;
}

/** The focus is on the password if the email is known, otherwise on the first way to sign in. */
export function signInPage(state: SignInState): string {
  const { offersOpenId, email = '', error, failure = EMPTY, noAccounts = false, returnTo = '/' } = state;
  const hasEmail = email !== '';
  const hasReturnTo = returnTo !== '/';
  const openIdUrl = hasReturnTo
    ? `/oauth/openid?${new URLSearchParams({ returnTo }).toString()}`
    : '/oauth/openid';
  // A link and not a form, because the policy of the page forbids forms that lead to another site.
  const openIdSection = html`<p>
      <a class="button" href="${openIdUrl}" ${hasEmail ? EMPTY : html`autofocus`}>
        Sign in with your organization
      </a>
    </p>
    ${localFormHint}`;
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      ${errorBox(error)} ${failure} ${noAccounts ? noAccountsHint : EMPTY}
      ${offersOpenId ? openIdSection : EMPTY}
      <form method="post" action="/api/auth/login">
        ${hasReturnTo ? html`<input type="hidden" name="returnTo" value="${returnTo}" />` : EMPTY}
        ${emailField(email, { focus: !hasEmail && !offersOpenId })}
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          required
          maxlength="256"
          autocomplete="current-password"
          ${hasEmail ? html`autofocus` : EMPTY}
        />
        <button type="submit" ${offersOpenId ? html`class="quiet"` : EMPTY}>Sign in</button>
      </form>`,
  );
}

/** Messages by the `error` parameter of the URL. Other values are ignored. */
const MESSAGES: ReadonlyMap<unknown, string> = new Map([
  ['openid_failed', 'The sign-in at your organization failed. Try again.'],
  [
    'openid_unavailable',
    'The identity provider of your organization does not respond. Try again in a few minutes.',
  ],
  ['forbidden', 'Your organization account is not allowed to sign in here. Ask an administrator for access.'],
]);

/** The format of the gateway's ids. A URL of an attacker must not make the page show other text. */
const INCIDENT_PATTERN = /^[\w-]{1,64}$/;

/** The message about a failed login at the identity provider, from the query of the URL. */
export function openIdFailure({ error, incident }: Readonly<Record<string, unknown>>): Html {
  const message = MESSAGES.get(error);
  if (message === undefined) return html``;
  const hasIncident = typeof incident === 'string' && INCIDENT_PATTERN.test(incident);
  return html`<div class="error" role="alert">
    <p>${message}</p>
    ${hasIncident ? html`<p>Incident <code>${incident}</code></p>` : html``}
  </div>`;
}
