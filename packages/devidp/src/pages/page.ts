import { html, type Html } from './html.ts';

/** No script and nothing from elsewhere. `form-action` is left open: browsers apply it to the redirect back to a client. */
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

/** The frame of every page. It says on each that this is no place for real users. */
export function renderPage(title: string, body: Html): string {
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
