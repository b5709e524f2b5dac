type DraftSchema = Record<string, unknown>;

/** Whether `$schema` names a draft before 2019-09. Without it, MCP means 2020-12. */
export function isOldDraft(schema: Readonly<DraftSchema>): boolean {
  const { $schema } = schema;
  return typeof $schema === 'string' && /\/draft-0[3-7]\//.test($schema);
}

/**
 * One part of a schema in the words of 2020-12. Many servers still write the older ones, most of them without saying
 * so; the spellings do not overlap, so both are read wherever they stand.
 */
export function normalizeDraft(subschema: Readonly<DraftSchema>, usesOldDraft: boolean): DraftSchema {
  // Up to draft-07 whatever stands beside a $ref is ignored.
  if (usesOldDraft && typeof subschema['$ref'] === 'string') {
    const { $ref, definitions, $defs } = subschema;
    return { $ref, ...(definitions !== undefined && { definitions }), ...($defs !== undefined && { $defs }) };
  }
  const { dependencies, ...normalized }: DraftSchema = subschema;
  if (Array.isArray(normalized['items'])) {
    normalized['prefixItems'] = normalized['items'];
    delete normalized['items'];
    if (normalized['additionalItems'] !== undefined) normalized['items'] = normalized['additionalItems'];
  }
  convertExclusiveLimit(normalized, 'exclusiveMinimum', 'minimum');
  convertExclusiveLimit(normalized, 'exclusiveMaximum', 'maximum');
  if (isDraftSchema(dependencies)) splitDependencies(dependencies, normalized);
  return normalized;
}

/** Draft-04 says `exclusiveMinimum: true` beside `minimum`. */
function convertExclusiveLimit(subschema: DraftSchema, flag: string, limit: string): void {
  if (typeof subschema[flag] !== 'boolean') return;
  const isExclusive = subschema[flag];
  subschema[flag] = isExclusive ? subschema[limit] : undefined;
  if (isExclusive) subschema[limit] = undefined;
}

function splitDependencies(dependencies: DraftSchema, target: DraftSchema): void {
  const entries = Object.entries(dependencies);
  target['dependentRequired'] ??= Object.fromEntries(entries.filter(([, value]) => Array.isArray(value)));
  target['dependentSchemas'] ??= Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)));
}

function isDraftSchema(value: unknown): value is DraftSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
