import { secretMask } from '@behalf/contracts';
import { parseTemplate } from '../template/parseTemplate.ts';
import { placeholderText, type RawTemplate } from '../template/template.ts';

/** A text whose `${NAME}` and `{{NAME}}` stand as one character each, so that the rest can be looked at for itself. */
export interface Marked {
  readonly text: string;
  /** Puts them back as they are written; a default is a literal, so it is masked. */
  restore(text: string): string;
}

/** Characters that no text has a use for. */
const FIRST = 0xe000;
const LAST = 0xf8ff;
const reserved = /[\uE000-\uF8FF]/;
export const reference = '\\uE000-\\uF8FF';
const literals = new RegExp(`[^${reference}]+`, 'g');

/** Undefined when it cannot be told what is a reference: then all of it may be a secret. */
export function markReferences(text: string): Marked | undefined {
  const parsed = parseTemplate(text);
  if (reserved.test(text) || !parsed.ok || parsed.template.length > LAST - FIRST) return undefined;
  const written: string[] = [];
  const marked = parsed.template.map((part) => {
    if (part.kind === 'literal') return part.text;
    written.push(referenceText(part));
    return String.fromCharCode(FIRST + written.length - 1);
  });
  return {
    text: marked.join(''),
    restore: (masked) =>
      masked.replace(new RegExp(`[${reference}]`, 'g'), (mark) => written[mark.charCodeAt(0) - FIRST] ?? ''),
  };
}

/** Of a text with marks: everything but those is a secret. */
export function maskLiterals(marked: string): string {
  return marked.replace(literals, secretMask);
}

function referenceText(part: Exclude<RawTemplate[number], { kind: 'literal' }>): string {
  if (part.kind !== 'env') return placeholderText(part);
  const { name, fallback } = part;
  if (!fallback) return `\${${name}}`;
  const mask = fallback.text === '' ? '' : secretMask;
  return `\${${name}${fallback.whenEmpty ? ':-' : '-'}${mask}}`;
}
