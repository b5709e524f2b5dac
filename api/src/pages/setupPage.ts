import type { GatewayError } from '@behalf/gateway';
import { emailField } from './emailField.ts';
import { errorBox } from './errorBox.ts';
import { html } from './html.ts';
import { page } from './page.ts';

/** The form behind the one-time link; `closed` when the link is used, expired or wrong. */
export function setupPage(
  link: 'closed' | { token: string; email: string; name: string },
  error?: GatewayError,
): string {
  if (link === 'closed') {
    return page(
      'Setup link closed',
      html`<h1>This setup link is closed</h1>
        <p>It was already used, or it expired after 15 minutes.</p>
        <p>
          If there is no account yet, restart the gateway: it prints a new link. Or create an account on the
          command line with <code>npm run create-user</code>.
        </p>
        <p><a href="/">Go to sign-in</a></p>`,
    );
  }
  return page(
    'Create the first administrator',
    html`<h1>Create the first administrator</h1>
      <p>This account has all permissions. The link works once.</p>
      ${errorBox(error)}
      <form method="post" action="/api/auth/setup">
        <input type="hidden" name="token" value="${link.token}" />
        <label for="name">Your name</label>
        <input
          id="name"
          name="name"
          required
          maxlength="100"
          autocomplete="name"
          value="${link.name}"
          autofocus
        />
        ${emailField(link.email)}
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          required
          minlength="8"
          maxlength="256"
          autocomplete="new-password"
          aria-describedby="password-hint"
        />
        <p id="password-hint" class="hint">At least 8 characters. A passphrase works well.</p>
        <button type="submit">Create account</button>
      </form>`,
  );
}
