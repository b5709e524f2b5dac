import { html } from './html.ts';
import { renderPage } from './page.ts';

/** `form` is the library's own, with its guard against forgery; the button belongs to it. */
export function renderSignOutPage(form: string): string {
  return renderPage(
    'Sign out',
    html`<p>Do you want to sign out?</p>
      ${{ html: form }}
      <button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out</button>`,
  );
}

export function renderSignedOutPage(): string {
  return renderPage('Signed out', html`<p>You can close this page.</p>`);
}

export function renderErrorPage(error: string, description = ''): string {
  return renderPage(
    'Something went wrong',
    html`<p role="alert"><code>${error}</code> ${description}</p>
      <p>Go back to the application and start again.</p>`,
  );
}
