import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import type { ChoiceOption } from './formNode.ts';

const MAX_LABEL_LENGTH = 80;

/** What one can choose from: `enum`, or constants with titles. Undefined: it is no choice between values. */
export function parseOptions(schema: JsonRecord): readonly ChoiceOption[] | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if (Array.isArray(values) && values.length > 0) {
    const names = Array.isArray(enumNames) ? (enumNames as unknown[]) : [];
    return values.map((value: unknown, index) => ({ value, label: optionLabel(value, names[index]) }));
  }
  const alternatives = oneOf ?? anyOf;
  if (
    !Array.isArray(alternatives) ||
    alternatives.length === 0 ||
    (oneOf !== undefined && anyOf !== undefined)
  )
    return undefined;
  const options = alternatives.map(parseConstant);
  return options.every((option) => option !== undefined) ? options : undefined;
}

function parseConstant(part: unknown): ChoiceOption | undefined {
  if (!isRecord(part)) return undefined;
  const { const: constant, enum: values, title } = part;
  if (Object.hasOwn(part, 'const')) return { value: constant, label: optionLabel(constant, title) };
  if (!Array.isArray(values) || values.length !== 1) return undefined;
  const [value] = values as unknown[];
  return { value, label: optionLabel(value, title) };
}

/** How a value is called: by its title, by itself, or as JSON. */
export function optionLabel(value: unknown, title?: unknown): string {
  if (typeof title === 'string' && title !== '') return title;
  const text = typeof value === 'string' ? value : toJsonText(value);
  return text.length > MAX_LABEL_LENGTH ? `${text.slice(0, MAX_LABEL_LENGTH)}…` : text;
}

function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deep to be written.
    return '…';
  }
}
