import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import type { Option } from './formNode.ts';

const LONGEST_LABEL = 80;

/** What one can choose from: `enum`, or constants with titles. Undefined: it is no choice between values. */
export function readOptions(schema: JsonRecord): readonly Option[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if (Array.isArray(values) && values.length > 0) {
    const names = Array.isArray(enumNames) ? (enumNames as unknown[]) : [];
    return values.map((value: unknown, index) => ({ value, label: labelOf(value, names[index]) }));
  }
  const parts = oneOf ?? anyOf;
  if (!Array.isArray(parts) || parts.length === 0 || (oneOf !== undefined && anyOf !== undefined))
    return undefined;
  const options = parts.map(readConstant);
  return options.every((option) => option !== undefined) ? options : undefined;
}

function readConstant(part: unknown): Option | undefined {
  if (!isRecord(part)) return undefined;
  const { const: constant, enum: values, title } = part;
  if (Object.hasOwn(part, 'const')) return { value: constant, label: labelOf(constant, title) };
  if (!Array.isArray(values) || values.length !== 1) return undefined;
  const [value] = values as unknown[];
  return { value, label: labelOf(value, title) };
}

/** How a value is called: by its title, by itself, or as JSON. */
export function labelOf(value: unknown, title?: unknown): string {
  if (typeof title === 'string' && title !== '') return title;
  const text = typeof value === 'string' ? value : asJson(value);
  return text.length > LONGEST_LABEL ? `${text.slice(0, LONGEST_LABEL)}…` : text;
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deep to be written.
    return '…';
  }
}
