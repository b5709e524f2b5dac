type Fields = Record<string, unknown>;

/** Whether `$schema` names a draft before 2019-09. Without it, MCP means 2020-12. */
export function isOldDraft(schema: Readonly<Fields>): boolean {
  const { $schema } = schema;
  return typeof $schema === 'string' && /\/draft-0[3-7]\//.test($schema);
}

/**
 * One part of a schema in the words of 2020-12. Many servers still write the older ones, most of them without saying
 * so; the spellings do not overlap, so both are read wherever they stand.
 */
export function readDraft(part: Readonly<Fields>, oldDraft: boolean): Fields {
  // Up to draft-07 whatever stands beside a $ref is ignored.
  if (oldDraft && typeof part['$ref'] === 'string') {
    const { $ref, definitions, $defs } = part;
    return { $ref, ...(definitions !== undefined && { definitions }), ...($defs !== undefined && { $defs }) };
  }
  const { dependencies, ...read }: Fields = part;
  if (Array.isArray(read['items'])) {
    read['prefixItems'] = read['items'];
    delete read['items'];
    if (read['additionalItems'] !== undefined) read['items'] = read['additionalItems'];
  }
  exclusive(read, 'exclusiveMinimum', 'minimum');
  exclusive(read, 'exclusiveMaximum', 'maximum');
  if (isFields(dependencies)) splitDependencies(dependencies, read);
  return read;
}

/** Draft-04 says `exclusiveMinimum: true` beside `minimum`. */
function exclusive(part: Fields, flag: string, limit: string): void {
  if (typeof part[flag] !== 'boolean') return;
  const isExclusive = part[flag];
  part[flag] = isExclusive ? part[limit] : undefined;
  if (isExclusive) part[limit] = undefined;
}

function splitDependencies(dependencies: Fields, into: Fields): void {
  const entries = Object.entries(dependencies);
  into['dependentRequired'] ??= Object.fromEntries(entries.filter(([, value]) => Array.isArray(value)));
  into['dependentSchemas'] ??= Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
