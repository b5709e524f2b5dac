import { type JsonRecord, isRecord } from '../result/json.ts';
import { flattenSchema } from './flattenSchema.ts';
import type { FormNode, JsonNode, ObjectProperty } from './formNode.ts';
import { parseOptions, parseVariants } from './parseAlternatives.ts';

/** The form of a tool: its schema and the root field. */
export interface Form {
  readonly root: JsonRecord;
  readonly node: FormNode;
}

/** Creates the form for a tool's arguments, which are always an object, even if the schema does not say so. */
export function parseForm(inputSchema: unknown): Form {
  const root = isRecord(inputSchema) ? inputSchema : {};
  const node = parseNode(root, root);
  if (node.kind === 'json' && !hasKeywords(root)) {
    const { title, description } = node;
    const emptyBase = { defaultValue: undefined, isNullable: false, properties: [], isPartial: false };
    return { root, node: { kind: 'object', title, description, ...emptyBase } };
  }
  return { root, node };
}

const IGNORED_KEYWORDS: ReadonlySet<string> = new Set(['type', 'title', 'description', '$schema', '$id']);

/** Whether the schema describes any arguments. */
function hasKeywords(root: JsonRecord): boolean {
  return Object.entries(root).some(([name, value]) => !IGNORED_KEYWORDS.has(name) && !isEmpty(value));
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** Objects with more properties are edited as JSON. */
const MAX_PROPERTIES = 300;
/** Longer lists of values are typed instead of selected. */
const MAX_OPTIONS = 300;
/** Longer texts get a multi-line field. */
const MAX_LINE_LENGTH = 200;
/** The maximum depth of choices that consist of a single choice. */
const MAX_HOPS = 8;
/** Rules about members that the form does not support. */
const UNSUPPORTED_KEYWORDS = ['if', 'dependentSchemas', 'dependencies', 'patternProperties'];

/** Creates the form field of a schema. Schemas come from servers: any input yields a field. */
export function parseNode(root: JsonRecord, schema: unknown, hops = 0): FormNode {
  const flattened = flattenSchema(root, schema);
  if (!flattened || hops > MAX_HOPS) return jsonNode(isRecord(schema) ? schema : {}, []);
  if (Object.hasOwn(flattened, 'const'))
    return { ...nodeBase(flattened), kind: 'constant', value: flattened['const'] };
  const options = parseOptions(flattened);
  if (options) return choiceNode(flattened, options);
  const alternatives = parseVariants(root, flattened);
  if (alternatives === 'too-many') return jsonNode(flattened, []);
  if (alternatives !== 'none') {
    const { variants, isNullable } = alternatives;
    const [onlyVariant] = variants;
    if (!onlyVariant) return { ...nodeBase(flattened), kind: 'constant', value: null };
    if (variants.length > 1) return { ...nodeBase(flattened, isNullable), kind: 'variants', variants };
    return withTextsOf(parseNode(root, onlyVariant.schema, hops + 1), flattened, isNullable);
  }
  return parseTypedNode(flattened);
}

function nodeBase(schema: JsonRecord, isNullable = false) {
  const { title, description, type, nullable } = schema;
  return {
    title: typeof title === 'string' ? title : '',
    description: typeof description === 'string' ? description : '',
    defaultValue: schema['default'],
    isNullable: isNullable || nullable === true || (Array.isArray(type) && type.includes('null')),
  };
}

/** If there is only one alternative, texts of the whole schema take precedence over its texts. */
function withTextsOf(node: FormNode, schema: JsonRecord, isNullable: boolean): FormNode {
  const outer = nodeBase(schema, isNullable || node.isNullable);
  return {
    ...node,
    title: outer.title || node.title,
    description: outer.description || node.description,
    defaultValue: outer.defaultValue === undefined ? node.defaultValue : outer.defaultValue,
    isNullable: outer.isNullable,
  };
}

function jsonNode(schema: JsonRecord, types: readonly string[]): JsonNode {
  return { ...nodeBase(schema), kind: 'json', types };
}

function choiceNode(schema: JsonRecord, allOptions: ReturnType<typeof parseOptions> & object): FormNode {
  const options = allOptions.filter(({ value }) => value !== null);
  const base = nodeBase(schema, options.length < allOptions.length);
  if (options.length === 0) return { ...base, kind: 'constant', value: null };
  if (options.length <= MAX_OPTIONS) return { ...base, kind: 'choice', options };
  const texts = options.map(({ value }) => value).filter((value) => typeof value === 'string');
  if (texts.length < options.length) return { ...base, kind: 'json', types: [] };
  return {
    ...base,
    kind: 'text',
    input: 'line',
    allowed: new Set(texts),
    minLength: undefined,
    maxLength: undefined,
  };
}

function parseTypedNode(schema: JsonRecord): FormNode {
  const types = schemaTypes(schema);
  const [type] = types;
  if (types.length > 1) {
    const variants = types.map((one) => ({ label: one, schema: { ...schema, ...NO_TEXTS, type: one } }));
    return { ...nodeBase(schema), kind: 'variants', variants };
  }
  switch (type) {
    case 'string':
      return textNode(schema);
    case 'number':
    case 'integer':
      return numberNode(schema, type === 'integer');
    case 'boolean':
      return { ...nodeBase(schema), kind: 'boolean' };
    case 'null':
      return { ...nodeBase(schema), kind: 'constant', value: null };
    case 'array':
      return listNode(schema);
    case 'object':
      return objectNode(schema);
    default:
      return jsonNode(schema, []);
  }
}

const NO_TEXTS = { title: '', description: '', default: undefined };
const KNOWN_TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
]);

/** The types of a schema, explicit or derived from its keywords. */
function schemaTypes(schema: JsonRecord): string[] {
  const { type } = schema;
  if (typeof type === 'string') return [type];
  if (Array.isArray(type)) return [...new Set(type.filter((one): one is string => KNOWN_TYPES.has(one)))];
  const hasAny = (...names: string[]) => names.some((name) => Object.hasOwn(schema, name));
  if (hasAny('properties', 'additionalProperties', 'required', 'patternProperties')) return ['object'];
  if (hasAny('items', 'prefixItems', 'minItems', 'maxItems')) return ['array'];
  if (hasAny('minLength', 'maxLength', 'pattern', 'format')) return ['string'];
  return hasAny('minimum', 'maximum', 'multipleOf') ? ['number'] : [];
}

const INPUT_BY_FORMAT: ReadonlyMap<unknown, 'date' | 'email' | 'url' | 'password'> = new Map([
  ['date', 'date'],
  ['email', 'email'],
  ['uri', 'url'],
  ['url', 'url'],
  ['password', 'password'],
]);

function textNode(schema: JsonRecord): FormNode {
  const { format, pattern } = schema;
  const maxLength = countOrUndefined(schema['maxLength']);
  const isShort =
    (maxLength !== undefined && maxLength <= MAX_LINE_LENGTH) ||
    format !== undefined ||
    pattern !== undefined;
  return {
    ...nodeBase(schema),
    kind: 'text',
    input: INPUT_BY_FORMAT.get(format) ?? (isShort ? 'line' : 'area'),
    minLength: countOrUndefined(schema['minLength']),
    maxLength,
    allowed: undefined,
  };
}

function numberNode(schema: JsonRecord, isInteger: boolean): FormNode {
  const { exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const min = numberOrUndefined(schema['minimum']);
  const max = numberOrUndefined(schema['maximum']);
  const step = numberOrUndefined(multipleOf);
  return {
    ...nodeBase(schema),
    kind: 'number',
    isInteger,
    // In draft 4, `true` excludes the limit itself.
    min: exclusiveMinimum === true ? undefined : min,
    max: exclusiveMaximum === true ? undefined : max,
    above: exclusiveMinimum === true ? min : numberOrUndefined(exclusiveMinimum),
    below: exclusiveMaximum === true ? max : numberOrUndefined(exclusiveMaximum),
    step: step !== undefined && step > 0 ? step : undefined,
  };
}

function listNode(schema: JsonRecord): FormNode {
  const { items, prefixItems, uniqueItems } = schema;
  if (prefixItems !== undefined || !(isRecord(items) || items === true)) return jsonNode(schema, ['array']);
  return {
    ...nodeBase(schema),
    kind: 'list',
    itemSchema: items,
    minItems: countOrUndefined(schema['minItems']) ?? 0,
    maxItems: countOrUndefined(schema['maxItems']),
    isUnique: uniqueItems === true,
  };
}

function objectNode(schema: JsonRecord): FormNode {
  const { properties, required, additionalProperties } = schema;
  const declared = isRecord(properties) ? Object.entries(properties) : [];
  const names = new Set(Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []);
  if (declared.length + names.size > MAX_PROPERTIES) return jsonNode(schema, ['object']);
  const additionalSchema = isRecord(additionalProperties) ? additionalProperties : {};
  const fields: ObjectProperty[] = declared.map(([name, one]) => ({
    name,
    schema: one,
    isRequired: names.delete(name),
  }));
  // Required members without a schema are still required.
  for (const name of names) fields.push({ name, schema: additionalSchema, isRequired: true });
  const isPartial = UNSUPPORTED_KEYWORDS.some((name) => Object.hasOwn(schema, name));
  if (fields.length > 0) return { ...nodeBase(schema), kind: 'object', properties: fields, isPartial };
  if (additionalProperties === true || isRecord(additionalProperties)) {
    return { ...nodeBase(schema), kind: 'map', valueSchema: additionalSchema };
  }
  if (additionalProperties !== false || isPartial) return jsonNode(schema, ['object']);
  return { ...nodeBase(schema), kind: 'object', properties: [], isPartial };
}

function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function countOrUndefined(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 ? value : undefined;
}
