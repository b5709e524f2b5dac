import { didYouMean } from '@behalf/contracts';

/** A placeholder for data of a user, a login or a request. Its value is known only during a call. */
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

/** `fallback.whenEmpty` distinguishes `:-` (unset or empty) from `-` (unset only), as in a shell. */
export interface EnvReference {
  readonly kind: 'env';
  readonly name: string;
  readonly fallback?: { readonly text: string; readonly appliesWhenEmpty: boolean };
}

/** A text of the file, parsed once. Inserted values are never parsed. */
export type RawTemplate = readonly (Literal | EnvReference | Placeholder)[];

/** A template after environment variables were substituted. */
export type Template = readonly (Literal | Placeholder)[];

export function isPlaceholder(part: Literal | EnvReference | Placeholder): part is Placeholder {
  return part.kind !== 'literal' && part.kind !== 'env';
}

/** Whether the placeholder is a token with which a receiver can act as the user. */
export function isUserToken({ kind, name }: Placeholder): boolean {
  return kind === 'graph' || (kind === 'openid' && name.endsWith('TOKEN'));
}

export function listPlaceholders(template: Template): Placeholder[] {
  return template.filter(isPlaceholder);
}

/** The text of a template without placeholders; otherwise undefined. */
export function readLiteralText(template: Template): string | undefined {
  let text = '';
  for (const part of template) {
    if (part.kind !== 'literal') return undefined;
    text += part.text;
  }
  return text;
}

/** The placeholder as written, for messages. Only for templates before variable substitution. */
export function formatPlaceholder(part: Placeholder): string {
  if (part.kind === 'userVar') return `{{${part.name}}}`;
  return `{{LIBRECHAT_${part.kind.toUpperCase()}_${part.name}}}`;
}

/** LibreChat's names for `{{LIBRECHAT_USER_...}}`, `_OPENID_` and `_BODY_`. */
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

/** All placeholders except user variables. */
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

/** Matches `${...}` and `{{...}}` if they look like a reference. Other braces, for example of JSON, are text. */
const REFERENCE_PATTERN = /\$\{([^{}]*)\}|\{\{([\w\s.-]{1,64})\}\}/g;
const ENV_PATTERN = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)(.*))?$/s;
/** Matches malformed references: any other `${`, and braces before something that looks like a name. */
const MALFORMED = /\$\{|\{\{\s*[A-Za-z_]|\{\s*LIBRECHAT_/;
const NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BUILT_IN_NAME = /^LIBRECHAT_(USER|OPENID|BODY)_(.+)$/;

/** Parses a text once. Nothing that a reference expands to is parsed again. */
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

/** As literal text, `Bearer ${TOKEN` would be an invalid credential without an obvious cause. */
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
