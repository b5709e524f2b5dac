import { didYouMean } from '@behalf/contracts';

type ArgumentsResult =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Converts `NAME=VALUE` pairs to tool inputs by the tool's schema. Reports all missing and invalid inputs at once. */
export function parseArgumentPairs(
  schema: Schema,
  pairs: readonly string[],
  base: Readonly<Record<string, unknown>>,
): ArgumentsResult {
  const properties = readProperties(schema['properties']);
  const problems: string[] = [];
  const texts = new Map<string, string[]>();
  for (const [index, pair] of pairs.entries()) {
    const separator = pair.indexOf('=');
    if (separator < 1) problems.push(`--arg number ${index + 1} is not NAME=VALUE`);
    else {
      const name = pair.slice(0, separator);
      texts.set(name, [...(texts.get(name) ?? []), pair.slice(separator + 1)]);
    }
  }
  const args: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  Object.assign(args, base);
  for (const [name, values] of texts) {
    const parsed = parseValue(Object.hasOwn(properties, name) ? properties[name] : undefined, values);
    if (parsed.ok) args[name] = parsed.value;
    else problems.push(`${name} ${parsed.problem}`);
  }
  problems.push(...findUnknownNames(schema, properties, Object.keys(args)));
  const missing = readRequired(schema).filter((name) => !Object.hasOwn(args, name) && !texts.has(name));
  problems.push(...missing.map((name) => formatMissing(name, properties[name])));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, args: { ...args } };
}

/** Finds names that the schema forbids, and names so similar to a defined one that they are probably misspelled. */
function findUnknownNames(
  schema: Schema,
  properties: Readonly<Record<string, Schema>>,
  names: readonly string[],
): string[] {
  const known = Object.keys(properties);
  return names
    .filter((name) => !Object.hasOwn(properties, name))
    .flatMap((name) => {
      const suggestion = didYouMean(name, known);
      if (suggestion === undefined && schema['additionalProperties'] !== false) return [];
      return [`${name} is not an input of the tool${suggestion === undefined ? '' : `; ${suggestion}`}`];
    });
}

function formatMissing(name: string, schema: Schema | undefined): string {
  const types = schema ? listTypes(schema) : [];
  const about = schema?.['description'];
  return [
    `${name} is missing`,
    ...(types.length > 0 ? [` (${types.join(' or ')})`] : []),
    ...(typeof about === 'string' ? [`: ${about.split('\n')[0] ?? ''}`] : []),
  ].join('');
}

function readRequired(schema: Schema): string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

function readProperties(value: unknown): Readonly<Record<string, Schema>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, Schema>) : {};
}

type Schema = Readonly<Record<string, unknown>>;

type ValueResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** The types in a schema; empty if it names none. */
function listTypes({ type }: Schema): readonly string[] {
  if (typeof type === 'string') return [type];
  return Array.isArray(type)
    ? type.filter((entry): entry is string => typeof entry === 'string' && entry !== 'null')
    : [];
}

/** Converts the text by the schema. Several values form an array, if the schema allows one. */
function parseValue(schema: Schema | undefined, values: readonly string[]): ValueResult {
  const types = schema ? listTypes(schema) : [];
  const [first = '', ...otherValues] = values;
  if (types.includes('array')) return parseList(schema, values);
  if (otherValues.length > 0) return createProblem('is given more than once');
  // If the schema allows a string, keep the text unchanged.
  if (types.includes('string')) return createValue(first);
  if (types.length === 0) return parseUntyped(schema, first);
  for (const type of types) {
    const read = parseAs(type, first);
    if (read.ok) return read;
  }
  return createProblem(`is not of type ${types.join(' or ')}`);
}

function parseAs(type: string, text: string): ValueResult {
  switch (type) {
    case 'integer':
    case 'number': {
      const number = text.trim() === '' ? NaN : Number(text);
      const isValid = type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number);
      return isValid ? createValue(number) : createProblem(`is not of type ${type}`);
    }
    case 'boolean':
      return text === 'true' || text === 'false'
        ? createValue(text === 'true')
        : createProblem('is neither true nor false');
    case 'object': {
      const value = tryParseJson(text);
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isObject ? createValue(value) : createProblem('is not a JSON object');
    }
    default:
      return createProblem(`has the unknown type ${type}`);
  }
}

function parseList(schema: Schema | undefined, values: readonly string[]): ValueResult {
  const [first = ''] = values;
  if (values.length === 1 && first.trimStart().startsWith('[')) {
    const value = tryParseJson(first);
    return Array.isArray(value) ? createValue(value) : createProblem('is not a JSON list');
  }
  const items = schema?.['items'];
  const itemSchema = typeof items === 'object' && items !== null ? (items as Schema) : undefined;
  const list: unknown[] = [];
  for (const text of values) {
    const read = parseValue(itemSchema, [text]);
    if (!read.ok) return createProblem(`has an entry that ${read.problem}`);
    list.push(read.value);
  }
  return createValue(list);
}

/** Without a type in the schema: one of the enum values, else JSON, else the text. */
function parseUntyped(schema: Schema | undefined, text: string): ValueResult {
  const allowed = schema?.['enum'];
  if (Array.isArray(allowed) && allowed.includes(text)) return createValue(text);
  const value = tryParseJson(text);
  return createValue(value === undefined ? text : value);
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const createValue = (value: unknown): ValueResult => ({ ok: true, value });
const createProblem = (problem: string): ValueResult => ({ ok: false, problem });
