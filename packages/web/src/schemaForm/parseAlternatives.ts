import { type JsonRecord, isRecord } from '../result/json.ts';
import { flattenSchema, mergeSchemas } from './flattenSchema.ts';
import type { ChoiceOption, Variant } from './formNode.ts';

const MAX_LABEL_LENGTH = 80;

/** The options of `enum` or of constants with titles; undefined if the schema is not a choice between values. */
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

/** The label of a value: its title, the value itself, or its JSON. */
export function optionLabel(value: unknown, title?: unknown): string {
  if (typeof title === 'string' && title !== '') return title;
  const text = typeof value === 'string' ? value : toJsonText(value);
  return text.length > MAX_LABEL_LENGTH ? `${text.slice(0, MAX_LABEL_LENGTH)}…` : text;
}

function toJsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Too deeply nested to serialize.
    return '…';
  }
}

/** Schemas with more variants are edited as JSON. */
const MAX_VARIANTS = 30;
/**
 * Keywords that change the form. An alternative without any of them only adds a condition, which the gateway
 * validates.
 */
const SHAPE_KEYWORDS = [
  'type',
  'properties',
  'items',
  'prefixItems',
  'enum',
  'const',
  'anyOf',
  'oneOf',
  'additionalProperties',
];
/** Texts about the whole schema, which must not be repeated for each variant. */
const TEXT_KEYWORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$defs',
  'definitions',
]);

interface ParsedVariants {
  readonly variants: readonly Variant[];
  readonly isNullable: boolean;
}

/** The variants of `anyOf` or `oneOf`, each as a complete schema. */
export function parseVariants(root: JsonRecord, schema: JsonRecord): ParsedVariants | 'none' | 'too-many' {
  const { anyOf, oneOf, ...base } = schema;
  const alternatives = anyOf ?? oneOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return 'none';
  if (alternatives.length > MAX_VARIANTS || (anyOf !== undefined && oneOf !== undefined)) return 'too-many';
  const flattened = alternatives.map((part: unknown) => flattenSchema(root, part) ?? {});
  if (!flattened.some((part) => SHAPE_KEYWORDS.some((name) => Object.hasOwn(part, name)))) return 'none';
  const nonNull = flattened.filter((part) => !isNull(part));
  const baseSchema = Object.fromEntries(Object.entries(base).filter(([name]) => !TEXT_KEYWORDS.has(name)));
  return {
    isNullable: nonNull.length < flattened.length,
    variants: nonNull.map((part) => ({
      label: variantLabel(part),
      schema: mergeSchemas([part, baseSchema]) ?? {},
    })),
  };
}

function isNull(part: JsonRecord): boolean {
  return part['type'] === 'null' || (Object.hasOwn(part, 'const') && part['const'] === null);
}

/** The label of a variant: its title, its distinguishing constant, or its type. */
function variantLabel(part: JsonRecord): string {
  const { title, type, properties } = part;
  if (typeof title === 'string' && title !== '') return title;
  if (isRecord(properties)) {
    for (const property of Object.values(properties)) {
      if (isRecord(property) && Object.hasOwn(property, 'const')) return optionLabel(property['const']);
    }
  }
  if (Object.hasOwn(part, 'const')) return optionLabel(part['const']);
  return typeof type === 'string' ? type : '';
}
