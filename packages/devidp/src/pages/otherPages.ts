import { html } from './html.ts';
import { page } from './page.ts';

/** `form` is the library's own, with its guard against forgery; the button belongs to it. */
export function signOutPage(form: string): string {
  return page(
    'Sign out',
    html`<p>Do you want to sign out?</p>
      ${{ html: form }}
      <button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
  );
}

export function signedOutPage(): string {
  return page('Signed out', html`<p>You can close this page.</p>`);
}

export function errorPage(error: string, description = ''): string {
  return page(
    'That did not work',
    html`<p role="alert"><code>${error}</code> ${description}</p>
      <p>Go back to the application and start again.</p>`,
  );
}
