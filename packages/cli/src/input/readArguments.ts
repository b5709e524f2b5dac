import { didYouMean } from '@behalf/contracts';
import { parseValue, listTypes, type Schema } from './readValue.ts';

export type ArgumentsResult =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The inputs of a tool from `NAME=VALUE`, as its schema wants them. Everything that is missing or wrong is named at once: whoever
 * has to ask for an input asks for all of them.
 */
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

/** What the schema forbids, and what is so near to a name it has that it was meant. */
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
