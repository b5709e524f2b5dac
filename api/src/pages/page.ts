import { html, type Html } from './html.ts';

/** The frame of every page: no script, one style sheet of our own. */
export function page(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Behalf</title>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header><span class="mark" aria-hidden="true">◆</span> Behalf</header>
        <main>${body}</main>
      </body>
    </html> `.text;
}
