import type { GatewayError } from '@behalf/gateway';
import { emailField } from './emailField.ts';
import { errorBox } from './errorBox.ts';
import { html } from './html.ts';
import { page } from './page.ts';

const nothing = html``;
const hint = html`<p class="empty">
  There is no account yet. The gateway printed a setup link when it started; it works for 15 minutes. After
  that, restart it for a new one.
</p>`;

export interface SignInState {
  email?: string;
  error?: GatewayError;
  /** Nobody can sign in yet. */
  noAccounts?: boolean;
}

/** Who typed an address already goes on with the password. */
export function signInPage({ email = '', error, noAccounts = false }: SignInState = {}): string {
  return page(
    'Sign in',
    html`<h1>Sign in</h1>
      ${errorBox(error)} ${noAccounts ? hint : nothing}
      <form method="post" action="/api/auth/login">
        ${emailField(email, { focus: email === '' })}
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          required
          maxlength="256"
          autocomplete="current-password"
          ${email === '' ? nothing : html`autofocus`}
        />
        <button type="submit">Sign in</button>
      </form>`,
  );
}
