import { didYouMean } from '@behalf/contracts';

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

/** The names LibreChat defines behind `{{LIBRECHAT_USER_...}}`, `_OPENID_` and `_BODY_`. */
export const userFields = [
  'ID',
  'NAME',
  'USERNAME',
  'EMAIL',
  'PROVIDER',
  'ROLE',
  'GOOGLEID',
  'FACEBOOKID',
  'OPENIDID',
  'SAMLID',
  'LDAPID',
  'GITHUBID',
  'DISCORDID',
  'APPLEID',
  'EMAILVERIFIED',
  'TWOFACTORENABLED',
  'TERMSACCEPTED',
  'TERMSACCEPTEDAT',
] as const;

export const openidFields = [
  'ACCESS_TOKEN',
  'ID_TOKEN',
  'TOKEN',
  'USER_ID',
  'USER_EMAIL',
  'USER_NAME',
  'EXPIRES_AT',
] as const;

export const bodyFields = ['CONVERSATIONID', 'PARENTMESSAGEID', 'MESSAGEID'] as const;

/** Every placeholder that is not a user's own variable. */
export const builtInPlaceholders: readonly string[] = [
  ...userFields.map((name) => `LIBRECHAT_USER_${name}`),
  ...openidFields.map((name) => `LIBRECHAT_OPENID_${name}`),
  ...bodyFields.map((name) => `LIBRECHAT_BODY_${name}`),
  'LIBRECHAT_GRAPH_ACCESS_TOKEN',
];

export interface TemplateProblem {
  code: 'template_malformed' | 'placeholder_unknown';
  message: string;
  suggestion?: string;
}

export type ParsedTemplate = { ok: true; template: RawTemplate } | { ok: false; problem: TemplateProblem };

/** `${...}` and `{{...}}` as far as they look like an attempt at one; other braces, of JSON say, are text. */
const REFERENCE_PATTERN = /\$\{([^{}]*)\}|\{\{([\w\s.-]{1,64})\}\}/g;
const ENV_PATTERN = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)(.*))?$/s;
/** What is left of an attempt that went wrong: `${` at all, and braces before something that reads as a name. */
const MALFORMED = /\$\{|\{\{\s*[A-Za-z_]|\{\s*LIBRECHAT_/;
const NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BUILT_IN_NAME = /^LIBRECHAT_(USER|OPENID|BODY)_(.+)$/;

/** One pass from the text of the file to a tree; nothing that comes out of a part is ever parsed again. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: RawTemplate[number][] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCE_PATTERN)) {
    const [source, env, name] = match;
    const part = env === undefined ? parsePlaceholder(name ?? '') : parseReference(env);
    if ('message' in part) return { ok: false, problem: part };
    if (match.index > end) parts.push({ kind: 'literal', text: text.slice(end, match.index) });
    parts.push(part);
    end = match.index + source.length;
  }
  if (end < text.length) parts.push({ kind: 'literal', text: text.slice(end) });
  for (const part of parts) {
    const problem = part.kind === 'literal' ? findMalformed(part.text) : undefined;
    if (problem) return { ok: false, problem };
  }
  return { ok: true, template: parts };
}

/** Sent on as text, `Bearer ${TOKEN` would be a credential that is wrong for a reason nobody sees. */
function findMalformed(text: string): TemplateProblem | undefined {
  const found = MALFORMED.exec(text);
  if (!found) return undefined;
  if (found[0] === '${') {
    return {
      code: 'template_malformed',
      message: 'contains a ${ that is not a variable reference',
      suggestion:
        'write ${NAME} or ${NAME:-default}, where the default contains no braces and no other variable',
    };
  }
  const [name = ''] = /LIBRECHAT_\w*|$/.exec(text.slice(found.index)) ?? [];
  return {
    code: 'template_malformed',
    message: 'contains braces that are not a placeholder',
    suggestion: builtInPlaceholders.includes(name)
      ? `write {{${name}}}`
      : 'write {{NAME}}, with two braces on each side and only the name between them',
  };
}

function parseReference(content: string): EnvReference | TemplateProblem {
  const match = ENV_PATTERN.exec(content);
  const name = match?.[1];
  if (!match || name === undefined) {
    return {
      code: 'template_malformed',
      message: 'contains a ${...} that is not a variable reference',
      suggestion: 'write ${NAME}, ${NAME:-default} or ${NAME-}',
    };
  }
  if (match[2] === undefined) return { kind: 'env', name };
  return { kind: 'env', name, fallback: { text: match[3] ?? '', appliesWhenEmpty: match[2] === ':-' } };
}

function parsePlaceholder(content: string): Placeholder | TemplateProblem {
  if (!NAME_PATTERN.test(content)) {
    const trimmedName = content.trim();
    return {
      code: 'template_malformed',
      message: 'contains a {{...}} that is not a placeholder',
      suggestion: NAME_PATTERN.test(trimmedName)
        ? `write {{${trimmedName}}} without spaces`
        : 'use letters, digits and underscores',
    };
  }
  if (!content.startsWith('LIBRECHAT_')) return { kind: 'userVar', name: content };
  if (!builtInPlaceholders.includes(content)) {
    const suggestion = didYouMean(content, builtInPlaceholders);
    const message = `contains the unknown placeholder {{${content}}}`;
    return suggestion === undefined
      ? { code: 'placeholder_unknown', message }
      : { code: 'placeholder_unknown', message, suggestion };
  }
  if (content === 'LIBRECHAT_GRAPH_ACCESS_TOKEN') return { kind: 'graph', name: 'ACCESS_TOKEN' };
  const [, kind = '', name = ''] = BUILT_IN_NAME.exec(content) ?? [];
  return { kind: kind.toLowerCase() as 'user' | 'openid' | 'body', name };
}
