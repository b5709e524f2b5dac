import type { DevUser } from './directory.ts';

/** Text that is already HTML. */
interface Html {
  readonly html: string;
}

/** Escapes all inserted values except Html. */
function html(strings: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += render(value) + (strings[index + 1] ?? '');
  });
  return { html: text };
}

function render(value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') {
    return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  }
  return 'html' in value ? value.html : value.map((item) => item.html).join('');
}

/**
 * Allows neither scripts nor external content. Does not restrict `form-action`, because browsers apply it to the
 * redirect to the client.
 */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export const stylePath = '/style.css';

export const styleSheet = `
body { font-family: system-ui, sans-serif; line-height: 1.5; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; }
ul { list-style: none; padding: 0; }
button { font: inherit; padding: 0.6rem 1rem; cursor: pointer; }
.user { width: 100%; margin-bottom: 0.5rem; text-align: left; }
.note { color: #555; }
`;

/** The layout of all pages, with a notice that this is not for real users. */
function renderPage(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · development identity provider</title>
        <link rel="stylesheet" href="${stylePath}" />
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
          <p class="note">A development identity provider: test users, no passwords.</p>
        </main>
      </body>
    </html> `.html;
}

/** One button per user. The form posts to the URL of the page. */
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

/** `form` is the library's form with its CSRF token; the button submits it. */
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
