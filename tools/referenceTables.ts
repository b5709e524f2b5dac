import { z } from 'zod';

export interface ReferenceRow {
  key: string;
  type: string;
  fallback: string;
  meaning: string;
}

function unwrap(schema: z.core.$ZodType): {
  inner: z.core.$ZodType;
  optional: boolean;
  fallback: unknown;
} {
  let inner = schema;
  let optional = false;
  let fallback: unknown;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) {
    optional = true;
    if (inner instanceof z.ZodDefault) fallback = inner.def.defaultValue;
    inner = inner.unwrap();
  }
  return { inner, optional, fallback };
}

function formatType(schema: z.core.$ZodType): string {
  const { inner } = unwrap(schema);
  if (inner instanceof z.ZodLiteral)
    return [...inner.values].map((value) => formatCode(String(value))).join(', ');
  if (inner instanceof z.ZodEnum) return inner.options.map((value) => formatCode(String(value))).join(', ');
  if (inner instanceof z.ZodBoolean) return 'true or false';
  if (inner instanceof z.ZodNumber) return 'whole number';
  if (inner instanceof z.ZodString) return 'text';
  if (inner instanceof z.ZodArray) return `list of ${formatType(inner.element)}`;
  if (inner instanceof z.ZodRecord) return `mapping of ${formatType(inner.valueType)}`;
  if (inner instanceof z.ZodUnion) return [...new Set(inner.options.map(formatType))].join(', or ');
  if (inner instanceof z.ZodPipe) return formatType(inner.in);
  if (inner instanceof z.ZodObject) return 'mapping';
  return 'any';
}

function readDescription(schema: z.core.$ZodType): string {
  let current: unknown = schema;
  while (current instanceof z.ZodType) {
    if (current.description !== undefined) return current.description;
    current =
      current instanceof z.ZodOptional || current instanceof z.ZodDefault ? current.unwrap() : undefined;
  }
  return '';
}

export function toReferenceRows(schema: z.ZodObject, prefix = ''): ReferenceRow[] {
  return Object.entries<z.core.$ZodType>(schema.shape)
    .filter(([, field]) => !isUnused(field))
    .map(([key, field]) => {
      const { optional, fallback } = unwrap(field);
      return {
        key: formatCode(prefix + key),
        type: formatType(field),
        fallback:
          fallback === undefined ? (optional ? '' : 'required') : formatCode(JSON.stringify(fallback)),
        meaning: readDescription(field),
      };
    });
}

function isUnused(schema: unknown): boolean {
  return schema instanceof z.ZodType && schema.meta()?.unused === true;
}

export function listUnusedKeys(schema: z.ZodObject, prefix: string): string[] {
  return Object.entries(schema.shape).flatMap(([key, field]) => (isUnused(field) ? [prefix + key] : []));
}

export function formatCode(text: string): string {
  return `\`${text}\``;
}

export function formatReferenceTable(items: readonly ReferenceRow[]): string {
  const lines = items.map(
    (row) => `| ${row.key} | ${escapeCell(row.type)} | ${row.fallback} | ${escapeCell(row.meaning)} |`,
  );
  return ['| Key | Type | Default | Meaning |', '| --- | --- | --- | --- |', ...lines, ''].join('\n');
}

export function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
