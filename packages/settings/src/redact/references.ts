import { secretMask } from '@behalf/contracts';
import { parseTemplate } from '../template/parseTemplate.ts';
import { formatPlaceholder, type RawTemplate } from '../template/template.ts';

/** A text whose `${NAME}` and `{{NAME}}` stand as one character each, so that the rest can be looked at for itself. */
export interface MarkedText {
  readonly text: string;
  /** Puts them back as they are written; a default is a literal, so it is masked. */
  restore(text: string): string;
}

/** Characters that no text has a use for. */
const FIRST_MARK = 0xe000;
const LAST_MARK = 0xf8ff;
const privateUsePattern = /[\uE000-\uF8FF]/;
export const markRange = '\\uE000-\\uF8FF';
const literalPattern = new RegExp(`[^${markRange}]+`, 'g');

/** Undefined when it cannot be told what is a reference: then all of it may be a secret. */
export function markReferences(text: string): MarkedText | undefined {
  const parsed = parseTemplate(text);
  if (privateUsePattern.test(text) || !parsed.ok || parsed.template.length > LAST_MARK - FIRST_MARK)
    return undefined;
  const references: string[] = [];
  const marked = parsed.template.map((part) => {
    if (part.kind === 'literal') return part.text;
    references.push(maskReference(part));
    return String.fromCharCode(FIRST_MARK + references.length - 1);
  });
  return {
    text: marked.join(''),
    restore: (masked) =>
      masked.replace(
        new RegExp(`[${markRange}]`, 'g'),
        (mark) => references[mark.charCodeAt(0) - FIRST_MARK] ?? '',
      ),
  };
}

/** Of a text with marks: everything but those is a secret. */
export function maskLiterals(marked: string): string {
  return marked.replace(literalPattern, secretMask);
}

function maskReference(part: Exclude<RawTemplate[number], { kind: 'literal' }>): string {
  if (part.kind !== 'env') return formatPlaceholder(part);
  const { name, fallback } = part;
  if (!fallback) return `\${${name}}`;
  const mask = fallback.text === '' ? '' : secretMask;
  return `\${${name}${fallback.appliesWhenEmpty ? ':-' : '-'}${mask}}`;
}
