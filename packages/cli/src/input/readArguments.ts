import { didYouMean } from '@behalf/contracts';
import { readValue, typesOf, type Schema } from './readValue.ts';

export type ReadArguments =
  | { readonly ok: true; readonly args: Record<string, unknown> }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * The inputs of a tool from `NAME=VALUE`, as its schema wants them. Everything that is missing or wrong is named at once: whoever
 * has to ask for an input asks for all of them.
 */
export function readArguments(
  schema: Schema,
  given: readonly string[],
  base: Readonly<Record<string, unknown>>,
): ReadArguments {
  const properties = schemasIn(schema['properties']);
  const problems: string[] = [];
  const texts = new Map<string, string[]>();
  for (const [index, pair] of given.entries()) {
    const at = pair.indexOf('=');
    if (at < 1) problems.push(`--arg number ${index + 1} is not NAME=VALUE`);
    else {
      const name = pair.slice(0, at);
      texts.set(name, [...(texts.get(name) ?? []), pair.slice(at + 1)]);
    }
  }
  const args: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  Object.assign(args, base);
  for (const [name, values] of texts) {
    const read = readValue(Object.hasOwn(properties, name) ? properties[name] : undefined, values);
    if (read.ok) args[name] = read.value;
    else problems.push(`${name} ${read.problem}`);
  }
  problems.push(...unknownNames(schema, properties, Object.keys(args)));
  const missing = requiredOf(schema).filter((name) => !Object.hasOwn(args, name) && !texts.has(name));
  problems.push(...missing.map((name) => missingText(name, properties[name])));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, args: { ...args } };
}

/** What the schema forbids, and what is so near to a name it has that it was meant. */
function unknownNames(
  schema: Schema,
  properties: Readonly<Record<string, Schema>>,
  names: readonly string[],
): string[] {
  const known = Object.keys(properties);
  return names
    .filter((name) => !Object.hasOwn(properties, name))
    .flatMap((name) => {
      const near = didYouMean(name, known);
      if (near === undefined && schema['additionalProperties'] !== false) return [];
      return [`${name} is no input of the tool${near === undefined ? '' : `; ${near}`}`];
    });
}

function missingText(name: string, schema: Schema | undefined): string {
  const types = schema ? typesOf(schema) : [];
  const about = schema?.['description'];
  return [
    `${name} is missing`,
    ...(types.length > 0 ? [` (${types.join(' or ')})`] : []),
    ...(typeof about === 'string' ? [`: ${about.split('\n')[0] ?? ''}`] : []),
  ].join('');
}

function requiredOf(schema: Schema): string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}

function schemasIn(value: unknown): Readonly<Record<string, Schema>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, Schema>) : {};
}
