/** A placeholder that names a person, a login or a request: known only when a call is made. */
export type Placeholder =
  | { readonly kind: 'userVar'; readonly name: string }
  | { readonly kind: 'user'; readonly name: string }
  | { readonly kind: 'openid'; readonly name: string }
  | { readonly kind: 'body'; readonly name: string }
  | { readonly kind: 'graph'; readonly name: 'ACCESS_TOKEN' };

export type PlaceholderKind = Placeholder['kind'];

export interface Literal {
  readonly kind: 'literal';
  readonly text: string;
}

/** `fallback.whenEmpty` tells `:-` (unset or empty) from `-` (unset only), as a shell does. */
export interface EnvReference {
  readonly kind: 'env';
  readonly name: string;
  readonly fallback?: { readonly text: string; readonly appliesWhenEmpty: boolean };
}

/** Text as it stands in the file, parsed once. What is put into it later is data and never looked at again. */
export type RawTemplate = readonly (Literal | EnvReference | Placeholder)[];

/** The same with its environment variables filled in. */
export type Template = readonly (Literal | Placeholder)[];

export function isPlaceholder(part: Literal | EnvReference | Placeholder): part is Placeholder {
  return part.kind !== 'literal' && part.kind !== 'env';
}

/** Whether it stands for a token of the user: whoever reads it there can act as them. */
export function isUserToken({ kind, name }: Placeholder): boolean {
  return kind === 'graph' || (kind === 'openid' && name.endsWith('TOKEN'));
}

export function listPlaceholders(template: Template): Placeholder[] {
  return template.filter(isPlaceholder);
}

/** The text of a template without placeholders, else nothing. */
export function readLiteralText(template: Template): string | undefined {
  let text = '';
  for (const part of template) {
    if (part.kind !== 'literal') return undefined;
    text += part.text;
  }
  return text;
}

/** As it was written: for messages. Never called on a template whose variables are filled in. */
export function formatPlaceholder(part: Placeholder): string {
  if (part.kind === 'userVar') return `{{${part.name}}}`;
  return `{{LIBRECHAT_${part.kind.toUpperCase()}_${part.name}}}`;
}
