import type { DevUser } from '../users.ts';
import { html } from './html.ts';
import { renderPage } from './page.ts';

/** One button per user: signing in is choosing who to be. The form posts to the address it is shown at. */
export function renderLoginPage(clientId: string, users: readonly DevUser[]): string {
  const choices = users.map(
    ({ id, name, email, roles = [] }) =>
      html`<li>
        <button class="user" type="submit" name="user" value="${id}">
          <strong>${name}</strong> ${email} ${roles.length > 0 ? `(${roles.join(', ')})` : ''}
        </button>
      </li>`,
  );
  return renderPage(
    'Sign in',
    html`<p>Continue to <strong>${clientId}</strong> as:</p>
      <form method="post">
        <ul>
          ${choices}
        </ul>
        <button type="submit" name="cancel" value="yes">Cancel</button>
      </form>`,
  );
}
