import { didYouMean } from '@behalf/contracts';
import { trustedPlaceholders } from './fields.ts';
import type { EnvReference, Placeholder, RawTemplate } from './template.ts';

export interface TemplateProblem {
  code: 'template_malformed' | 'placeholder_unknown';
  message: string;
  suggestion?: string;
}

export type ParsedTemplate = { ok: true; template: RawTemplate } | { ok: false; problem: TemplateProblem };

/** `${...}` and `{{...}}` as far as they look like an attempt at one; other braces, of JSON say, are text. */
const ATTEMPT = /\$\{([^{}]*)\}|\{\{([\w\s.-]{1,64})\}\}/g;
const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)(.*))?$/s;
/** What is left of an attempt that went wrong: `${` at all, and braces before something that reads as a name. */
const GARBLED = /\$\{|\{\{\s*[A-Za-z_]|\{\s*LIBRECHAT_/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const TRUSTED = /^LIBRECHAT_(USER|OPENID|BODY)_(.+)$/;

/** One pass from the text of the file to a tree; nothing that comes out of a part is ever parsed again. */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: RawTemplate[number][] = [];
  let end = 0;
  for (const match of text.matchAll(ATTEMPT)) {
    const [source, env, name] = match;
    const part = env === undefined ? placeholder(name ?? '') : reference(env);
    if ('message' in part) return { ok: false, problem: part };
    if (match.index > end) parts.push({ kind: 'literal', text: text.slice(end, match.index) });
    parts.push(part);
    end = match.index + source.length;
  }
  if (end < text.length) parts.push({ kind: 'literal', text: text.slice(end) });
  for (const part of parts) {
    const problem = part.kind === 'literal' ? garbled(part.text) : undefined;
    if (problem) return { ok: false, problem };
  }
  return { ok: true, template: parts };
}

/** Sent on as text, `Bearer ${TOKEN` would be a credential that is wrong for a reason nobody sees. */
function garbled(text: string): TemplateProblem | undefined {
  const found = GARBLED.exec(text);
  if (!found) return undefined;
  if (found[0] === '${') {
    return {
      code: 'template_malformed',
      message: 'holds a ${ that does not become a variable',
      suggestion:
        'write ${NAME} or ${NAME:-default}, where the default holds no braces and no other variable',
    };
  }
  const [name = ''] = /LIBRECHAT_\w*|$/.exec(text.slice(found.index)) ?? [];
  return {
    code: 'template_malformed',
    message: 'holds braces that do not become a placeholder',
    suggestion: trustedPlaceholders.includes(name)
      ? `write {{${name}}}`
      : 'write {{NAME}}, with two braces on each side and nothing but the name between them',
  };
}

function reference(inside: string): EnvReference | TemplateProblem {
  const match = ENV.exec(inside);
  const name = match?.[1];
  if (!match || name === undefined) {
    return {
      code: 'template_malformed',
      message: 'holds a ${...} that is not a variable',
      suggestion: 'write ${NAME}, ${NAME:-default} or ${NAME-}',
    };
  }
  if (match[2] === undefined) return { kind: 'env', name };
  return { kind: 'env', name, fallback: { text: match[3] ?? '', whenEmpty: match[2] === ':-' } };
}

function placeholder(inside: string): Placeholder | TemplateProblem {
  if (!NAME.test(inside)) {
    const tight = inside.trim();
    return {
      code: 'template_malformed',
      message: 'holds a {{...}} that is not a placeholder',
      suggestion: NAME.test(tight)
        ? `write {{${tight}}} without blanks`
        : 'a name has letters, digits and underscores',
    };
  }
  if (!inside.startsWith('LIBRECHAT_')) return { kind: 'userVar', name: inside };
  if (!trustedPlaceholders.includes(inside)) {
    const suggestion = didYouMean(inside, trustedPlaceholders);
    const message = `holds the unknown placeholder {{${inside}}}`;
    return suggestion === undefined
      ? { code: 'placeholder_unknown', message }
      : { code: 'placeholder_unknown', message, suggestion };
  }
  if (inside === 'LIBRECHAT_GRAPH_ACCESS_TOKEN') return { kind: 'graph', name: 'ACCESS_TOKEN' };
  const [, kind = '', name = ''] = TRUSTED.exec(inside) ?? [];
  return { kind: kind.toLowerCase() as 'user' | 'openid' | 'body', name };
}
