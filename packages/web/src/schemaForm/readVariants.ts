import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { flattenSchema } from './flattenSchema.ts';
import type { Variant } from './formNode.ts';
import { mergeSchemas } from './mergeSchemas.ts';
import { labelOf } from './readOptions.ts';

/** More forms of one thing than this are better written as JSON. */
const MOST_VARIANTS = 30;
/** What makes a form look different. A part without any of it only adds a condition, which the gateway judges. */
const SHAPES = [
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
/** Words about the whole, which are not words about each variant. */
const WORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  '$defs',
  'definitions',
]);

export interface Variants {
  readonly variants: readonly Variant[];
  readonly isNullable: boolean;
}

/** The forms that `anyOf` or `oneOf` offer, each complete by itself. */
export function readVariants(root: JsonRecord, schema: JsonRecord): Variants | 'none' | 'too-many' {
  const { anyOf, oneOf, ...base } = schema;
  const parts = anyOf ?? oneOf;
  if (!Array.isArray(parts) || parts.length === 0) return 'none';
  if (parts.length > MOST_VARIANTS || (anyOf !== undefined && oneOf !== undefined)) return 'too-many';
  const flat = parts.map((part: unknown) => flattenSchema(root, part) ?? {});
  if (!flat.some((part) => SHAPES.some((name) => Object.hasOwn(part, name)))) return 'none';
  const others = flat.filter((part) => !isNull(part));
  const wordless = Object.fromEntries(Object.entries(base).filter(([name]) => !WORDS.has(name)));
  return {
    isNullable: others.length < flat.length,
    variants: others.map((part) => ({ label: nameOf(part), schema: mergeSchemas([part, wordless]) ?? {} })),
  };
}

function isNull(part: JsonRecord): boolean {
  return part['type'] === 'null' || (Object.hasOwn(part, 'const') && part['const'] === null);
}

/** How a form is called: by its title, by the constant that marks it, or by its type. */
function nameOf(part: JsonRecord): string {
  const { title, type, properties } = part;
  if (typeof title === 'string' && title !== '') return title;
  if (isRecord(properties)) {
    for (const property of Object.values(properties)) {
      if (isRecord(property) && Object.hasOwn(property, 'const')) return labelOf(property['const']);
    }
  }
  if (Object.hasOwn(part, 'const')) return labelOf(part['const']);
  return typeof type === 'string' ? type : '';
}
