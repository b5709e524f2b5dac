/** Text that is already HTML. */
export interface Html {
  readonly html: string;
}

/** Everything put into the template is escaped, unless it is Html itself. */
export function html(strings: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
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
