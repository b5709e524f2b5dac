import { z } from 'zod';

/** The parts of JSON Schema that describe names, types and defaults. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** `input` describes what a caller may send, `output` what the gateway answers. */
export function describeZod(schema: z.ZodType, io: 'input' | 'output'): string[] {
  return describeSchema(
    z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as JsonSchema,
  );
}

/**
 * One line per field: its path, `?` if it is optional, its type and its default. `[]` stands for the items of an array, `*` for
 * any key, `<type=draft>` for one variant of a union. Texts, lengths and patterns are left out.
 */
export function describeSchema(schema: JsonSchema, path = ''): string[] {
  const { properties = {}, required = [], additionalProperties, items } = schema;
  const variants = listVariants(schema);
  const objects = variants.filter((variant) => variant.properties);
  return [
    ...Object.entries(properties).flatMap(([name, property]) =>
      describeField(property, joinPath(path, name), required.includes(name) ? '' : '?'),
    ),
    ...(isSchema(additionalProperties) ? describeField(additionalProperties, joinPath(path, '*'), '') : []),
    ...(items ? describeSchema(items, `${path}[]`) : []),
    ...variants.flatMap((variant) =>
      describeSchema(variant, objects.length > 1 ? `${path}${labelVariant(variant, objects)}` : path),
    ),
  ];
}

function describeField(schema: JsonSchema, path: string, mark: '' | '?'): string[] {
  const fallback = schema.default === undefined ? '' : ` = ${JSON.stringify(schema.default)}`;
  return [`${path}${mark}: ${describeType(schema)}${fallback}`, ...describeSchema(schema, path)];
}

function describeType(schema: JsonSchema): string {
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return joinValues(schema.enum);
  const variants = listVariants(schema);
  if (variants.length > 0) return [...new Set(variants.map(describeType))].join(' | ');
  if (schema.items) return `array of ${describeType(schema.items)}`;
  const keys = schema.propertyNames?.enum;
  if (keys) return `object with keys ${joinValues(keys)}`;
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' | ');
}

/** The type of a field that takes one of these values. */
export function joinValues(values: readonly unknown[]): string {
  return values
    .map((value) => JSON.stringify(value))
    .sort()
    .join(' | ');
}

/** Names a variant of a union by a field whose value tells it from the others. */
function labelVariant(variant: JsonSchema, variants: readonly JsonSchema[]): string {
  for (const [name, property] of Object.entries(variant.properties ?? {})) {
    const values = variants.map(({ properties }) => readFixedValue(properties?.[name]));
    const own = readFixedValue(property);
    const isUnique = values.filter((value) => value === own).length === 1;
    if (isUnique && ('const' in property || !values.includes(undefined))) return `<${name}=${String(own)}>`;
  }
  return `<${variants.indexOf(variant) + 1}>`;
}

function readFixedValue(schema: JsonSchema | undefined): unknown {
  return schema?.const ?? schema?.enum?.[0];
}

function listVariants({ anyOf = [], oneOf = [] }: JsonSchema): readonly JsonSchema[] {
  return [...anyOf, ...oneOf];
}

function isSchema(value: boolean | JsonSchema | undefined): value is JsonSchema {
  return typeof value === 'object' && Object.keys(value).length > 0;
}

function joinPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
