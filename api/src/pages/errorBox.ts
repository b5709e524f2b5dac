import type { GatewayError } from '@behalf/gateway';
import { html, type Html } from './html.ts';

/** What went wrong, read out by a screen reader as soon as the page is there. */
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
