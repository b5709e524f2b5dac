import { isRecord, type JsonRecord } from '../result/isRecord.ts';
import { flattenSchema } from './flattenSchema.ts';
import type { FormNode, JsonNode, Property } from './formNode.ts';
import { readOptions } from './readOptions.ts';
import { readVariants } from './readVariants.ts';

/** More fields than this nobody fills in one by one. */
const MOST_PROPERTIES = 300;
/** A longer list is not chosen from but typed. */
const MOST_OPTIONS = 300;
/** A longer text wants room. */
const LONG_TEXT = 200;
/** How often a choice may turn out to be another choice. */
const MOST_HOPS = 8;
/** Rules about members that the form does not know. */
const FURTHER_MEMBERS = ['if', 'dependentSchemas', 'dependencies', 'patternProperties'];

/** What a form shows for a schema. Schemas are written by servers: whatever stands there, there is an answer. */
export function readNode(root: JsonRecord, schema: unknown, hops = 0): FormNode {
  const flat = flattenSchema(root, schema);
  if (!flat || hops > MOST_HOPS) return jsonNode(isRecord(schema) ? schema : {}, []);
  if (Object.hasOwn(flat, 'const')) return { ...placeOf(flat), kind: 'constant', value: flat['const'] };
  const options = readOptions(flat);
  if (options) return choiceNode(flat, options);
  const found = readVariants(root, flat);
  if (found === 'too-many') return jsonNode(flat, []);
  if (found !== 'none') {
    const { variants, isNullable } = found;
    const [only] = variants;
    if (!only) return { ...placeOf(flat), kind: 'constant', value: null };
    if (variants.length > 1) return { ...placeOf(flat, isNullable), kind: 'variants', variants };
    return withWordsOf(readNode(root, only.schema, hops + 1), flat, isNullable);
  }
  return nodeOfType(flat);
}

function placeOf(schema: JsonRecord, isNullable = false) {
  const { title, description, type, nullable } = schema;
  return {
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    initial: schema['default'],
    isNullable: isNullable || nullable === true || (Array.isArray(type) && type.includes('null')),
  };
}

/** The only form of a thing is the thing: what is said about the whole goes before what is said about the form. */
function withWordsOf(node: FormNode, schema: JsonRecord, isNullable: boolean): FormNode {
  const whole = placeOf(schema, isNullable || node.isNullable);
  return {
    ...node,
    title: whole.title || node.title,
    description: whole.description || node.description,
    initial: whole.initial === undefined ? node.initial : whole.initial,
    isNullable: whole.isNullable,
  };
}

function jsonNode(schema: JsonRecord, types: readonly string[]): JsonNode {
  return { ...placeOf(schema), kind: 'json', types };
}

function choiceNode(schema: JsonRecord, all: ReturnType<typeof readOptions> & object): FormNode {
  const options = all.filter(({ value }) => value !== null);
  const place = placeOf(schema, options.length < all.length);
  if (options.length === 0) return { ...place, kind: 'constant', value: null };
  if (options.length <= MOST_OPTIONS) return { ...place, kind: 'choice', options };
  const texts = options.map(({ value }) => value).filter((value) => typeof value === 'string');
  if (texts.length < options.length) return { ...place, kind: 'json', types: [] };
  return {
    ...place,
    kind: 'text',
    input: 'line',
    allowed: new Set(texts),
    minLength: undefined,
    maxLength: undefined,
  };
}

function nodeOfType(schema: JsonRecord): FormNode {
  const types = typesOf(schema);
  const [type] = types;
  if (types.length > 1) {
    const variants = types.map((one) => ({ label: one, schema: { ...schema, ...NO_WORDS, type: one } }));
    return { ...placeOf(schema), kind: 'variants', variants };
  }
  switch (type) {
    case 'string':
      return textNode(schema);
    case 'number':
    case 'integer':
      return numberNode(schema, type === 'integer');
    case 'boolean':
      return { ...placeOf(schema), kind: 'boolean' };
    case 'null':
      return { ...placeOf(schema), kind: 'constant', value: null };
    case 'array':
      return listNode(schema);
    case 'object':
      return objectNode(schema);
    default:
      return jsonNode(schema, []);
  }
}

const NO_WORDS = { title: '', description: '', default: undefined };
const KNOWN: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);

/** The types it says, or those that its keywords are about. */
function typesOf(schema: JsonRecord): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return [...new Set(type.filter((one): one is string => KNOWN.has(one)))];
  const has = (...names: string[]) => names.some((name) => Object.hasOwn(schema, name));
  if (has('properties', 'additionalProperties', 'required', 'patternProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'maxItems')) return ['array'];
  if (has('minLength', 'maxLength', 'pattern', 'format')) return ['string'];
  return has('minimum', 'maximum', 'multipleOf') ? ['number'] : [];
}

const INPUTS: ReadonlyMap<unknown, 'date' | 'email' | 'url' | 'password'> = new Map([
  ['date', 'date'],
  ['email', 'email'],
  ['uri', 'url'],
  ['url', 'url'],
  ['password', 'password'],
]);

function textNode(schema: JsonRecord): FormNode {
  const { format, pattern } = schema;
  const maxLength = countOf(schema['maxLength']);
  const isShort =
    (maxLength !== undefined && maxLength <= LONG_TEXT) || format !== undefined || pattern !== undefined;
  return {
    ...placeOf(schema),
    kind: 'text',
    input: INPUTS.get(format) ?? (isShort ? 'line' : 'area'),
    minLength: countOf(schema['minLength']),
    maxLength,
    allowed: undefined,
  };
}

function numberNode(schema: JsonRecord, isInteger: boolean): FormNode {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const min = numberOf(schema['minimum']);
  const max = numberOf(schema['maximum']);
  const step = numberOf(multipleOf);
  return {
    ...placeOf(schema),
    kind: 'number',
    isInteger,
    // An old draft says with true that the limit itself is left out.
    min: exclusiveMinimum === true ? undefined : min,
    max: exclusiveMaximum === true ? undefined : max,
    above: exclusiveMinimum === true ? min : numberOf(exclusiveMinimum),
    below: exclusiveMaximum === true ? max : numberOf(exclusiveMaximum),
    step: step !== undefined && step > 0 ? step : undefined,
  };
}

function listNode(schema: JsonRecord): FormNode {
  const { items, prefixItems, uniqueItems } = schema;
  if (prefixItems !== undefined || !(isRecord(items) || items === true)) return jsonNode(schema, ['array']);
  return {
    ...placeOf(schema),
    kind: 'list',
    itemSchema: items,
    minItems: countOf(schema['minItems']) ?? 0,
    maxItems: countOf(schema['maxItems']),
    isUnique: uniqueItems === true,
  };
}

function objectNode(schema: JsonRecord): FormNode {
  const { properties, required, additionalProperties } = schema;
  const declared = isRecord(properties) ? Object.entries(properties) : [];
  const names = new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
  if (declared.length + names.size > MOST_PROPERTIES) return jsonNode(schema, ['object']);
  const others = isRecord(additionalProperties) ? additionalProperties : {};
  const fields: Property[] = declared.map(([name, one]) => ({
    name,
    schema: one,
    isRequired: names.delete(name),
  }));
  // What is required and nowhere described is still required.
  for (const name of names) fields.push({ name, schema: others, isRequired: true });
  const isPartial = FURTHER_MEMBERS.some((name) => Object.hasOwn(schema, name));
  if (fields.length > 0) return { ...placeOf(schema), kind: 'object', properties: fields, isPartial };
  if (additionalProperties === true || isRecord(additionalProperties)) {
    return { ...placeOf(schema), kind: 'map', valueSchema: others };
  }
  if (additionalProperties !== false || isPartial) return jsonNode(schema, ['object']);
  return { ...placeOf(schema), kind: 'object', properties: [], isPartial };
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
