import { html, type Html } from './html.ts';

/** The same field on every form, so that a password manager knows it again. */
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
