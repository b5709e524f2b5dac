import type { GatewayError } from '@behalf/gateway';

/** The frame of server-rendered pages. */
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

/** Text that is HTML and is not escaped again. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Builds HTML. Values are escaped unless they are `Html`. */
export function html(
  strings: TemplateStringsArray,
  ...values: (string | number | Html | readonly Html[])[]
): Html {
  let text = strings[0] ?? '';
  values.forEach((value, index) => {
    text += render(value) + (strings[index + 1] ?? '');
  });
  return new Html(text);
}

function render(value: string | number | Html | readonly Html[]): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map((item) => item.text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** `role="alert"`: screen readers announce the error when the page loads. */
export function errorBox(error: GatewayError | undefined): Html {
  if (!error) return html``;
  const fields = (error.errors ?? []).map(
    ({ path, message }) => html`<li><strong>${path}</strong>: ${message}</li>`,
  );
  return html`<div class="error" role="alert">
    <p>${error.detail}</p>
    ${
      fields.length > 0
        ? html`<ul>
            ${fields}
          </ul>`
        : html``
    }
  </div>`;
}

/** The same field in every form, so that password managers recognize it. */
export function emailField(value: string, { focus = false } = {}): Html {
  return html`<label for="email">Email</label>
    <input
      id="email"
      name="email"
      type="email"
      required
      maxlength="254"
      autocomplete="username"
      value="${value}"
      ${focus ? html`autofocus` : html``}
    />`;
}
