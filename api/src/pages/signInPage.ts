import type { GatewayError } from '@behalf/gateway';
import { emailField } from './emailField.ts';
import { errorBox } from './errorBox.ts';
import { html, type Html } from './html.ts';
import { page } from './page.ts';

const EMPTY = html``;
const noAccountsHint = html`<p class="empty">
  There is no account yet. The gateway printed a setup link when it started; the link is valid for 15 minutes.
  To get a new link, restart the gateway.
</p>`;

const localFormHint = html`<p class="hint">Or sign in with an account of this gateway:</p>`;

export interface SignInState {
  /** Whether people can sign in at the identity provider. */
  offersOpenId: boolean;
  email?: string;
  error?: GatewayError;
  /** What became of a login at the identity provider. */
  failure?: Html;
  /** Nobody can sign in yet. */
  noAccounts?: boolean;
  /** The path of ours to go to afterwards. */
  returnTo?: string;
}

/** Where the focus is: with who typed an address already on the password, else on the first way to sign in. */
export function signInPage(state: SignInState): string {
  const { offersOpenId, email = '', error, failure = EMPTY, noAccounts = false, returnTo = '/' } = state;
  const hasEmail = email !== '';
  const hasReturnTo = returnTo !== '/';
  const openIdUrl = hasReturnTo
    ? `/oauth/openid?${new URLSearchParams({ returnTo }).toString()}`
    : '/oauth/openid';
  // A plain link: whoever signs in there comes back by a redirect, and no form of ours may lead to another site.
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
