import { isObject } from '@behalf/kernel';
import { type CostBudget, UncheckableSchemaError } from './costBudget.ts';
import { type LinearPattern, createLinearPattern, createPatternBudget } from './linearPattern.ts';

/** As JSON text. */
const MAX_SCHEMA_LENGTH = 256 * 1024;
const MAX_SCHEMA_DEPTH = 32;
/**
 * Limit of subschemas, keywords and listed names. Ajv takes about 0.05 ms for each, and blocks the event loop. A schema with a
 * hundred optional nullable fields has 600.
 */
const MAX_COMPILE_WORK = 1_000;
/** A reference compiles to a function, a pattern to an automaton. */
const REFERENCE_WORK = 3;
const PATTERN_WORK = 10;
/** Ajv generates code for each required name up to this number, and a loop above it. */
export const MAX_UNROLLED_NAMES = 20;
const JSON_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']);

/** The keyword that charges each evaluation of a subschema. Servers cannot set it, because unknown keywords are dropped. */
export const costKeyword = '$behalf-fuel';

type SchemaObject = Record<string, unknown>;

export interface PreparedSchema {
  readonly schema: SchemaObject | boolean;
  readonly patterns: ReadonlyMap<string, LinearPattern>;
  /** Whether a pattern was left out. */
  readonly isPartial: boolean;
  /** Whether the schema uses `unevaluatedProperties` or `unevaluatedItems`. */
  readonly tracksEvaluated: boolean;
}

/**
 * Copies an untrusted schema so that it is safe to compile. The copy has only known keywords with values of the right type.
 * References stay inside the document and lead to subschemas that charge their cost.
 */
export function prepareSchema(source: unknown, costBudget: CostBudget): PreparedSchema {
  const text = JSON.stringify(source) as string | undefined;
  if (text === undefined || !isObject(source)) throw new UncheckableSchemaError('not_a_schema');
  if (text.length > MAX_SCHEMA_LENGTH) throw new UncheckableSchemaError('too_large');

  const usesOldDraft = isOldDraft(source);
  const patternLimits = createPatternBudget();
  const patterns = new Map<string, LinearPattern>();
  const validTargets = new Set<string>();
  const references: string[] = [];
  const findings = { hasDroppedPattern: false, hasNegation: false, tracksEvaluated: false };
  let remainingWork = MAX_COMPILE_WORK;

  const chargeWork = (amount: number) => {
    remainingWork -= amount;
    if (remainingWork < 0) throw new UncheckableSchemaError('too_many_parts');
  };
  const addPattern = (pattern: string) => {
    if (patterns.has(pattern)) return;
    chargeWork(PATTERN_WORK);
    patterns.set(pattern, createLinearPattern(pattern, patternLimits, costBudget));
  };

  function copySubschema(value: unknown, location: string, depth: number): SchemaObject | boolean {
    chargeWork(1);
    if (typeof value === 'boolean') return value;
    if (!isObject(value)) throw new UncheckableSchemaError('not_a_schema');
    if (depth > MAX_SCHEMA_DEPTH) throw new UncheckableSchemaError('too_deep');
    validTargets.add(location);
    const { $id, id } = value;
    // An embedded `$id` changes the base URI of references. The `$id` of the root has no effect.
    if (location !== '#' && (typeof $id === 'string' || (usesOldDraft && typeof id === 'string'))) {
      throw new UncheckableSchemaError('unknown_reference');
    }
    const copy: SchemaObject = {};
    let weight = 1;
    for (const [name, original] of Object.entries(normalizeDraft(value, usesOldDraft))) {
      const kind = keywords.get(name);
      if (kind === undefined || original === undefined) continue;
      if (negatingKeywords.has(name)) findings.hasNegation = true;
      if (name === 'unevaluatedProperties' || name === 'unevaluatedItems') findings.tracksEvaluated = true;
      chargeWork(1);
      const copied = copyKeyword(name, kind, original, `${location}/${name}`, depth);
      if (copied === undefined) continue;
      copy[name] = copied;
      weight += countEntries(copied, kind);
    }
    copy[costKeyword] = weight;
    return copy;
  }

  function copyKeyword(
    name: string,
    kind: KeywordKind,
    original: unknown,
    location: string,
    depth: number,
  ): unknown {
    switch (kind) {
      case 'schema':
        return copySubschema(original, location, depth + 1);
      case 'schemas':
        return requireNonEmpty(requireArray(original)).map((item, index) =>
          copySubschema(item, `${location}/${index}`, depth + 1),
        );
      case 'schemaMap':
        return mapEntries(original, (item, key) => {
          if (name === 'patternProperties') addPattern(key);
          return copySubschema(item, `${location}/${escapePointer(key)}`, depth + 1);
        });
      case 'pattern':
        if (typeof original !== 'string') throw new UncheckableSchemaError('not_a_schema');
        try {
          addPattern(original);
        } catch (error) {
          if (!(error instanceof UncheckableSchemaError && error.reason === 'pattern')) throw error;
          // Without the pattern the schema accepts more, unless a negating keyword inverts that.
          findings.hasDroppedPattern = true;
          return undefined;
        }
        return original;
      case 'reference':
        if (typeof original !== 'string') throw new UncheckableSchemaError('not_a_schema');
        // The server chooses the reference, so fetching it would be an SSRF.
        if (!original.startsWith('#')) throw new UncheckableSchemaError('remote_reference');
        chargeWork(REFERENCE_WORK);
        references.push(original);
        return original;
      case 'anchor':
        if (typeof original !== 'string' || !/^[A-Za-z_][\w.-]*$/.test(original))
          throw new UncheckableSchemaError('not_a_schema');
        validTargets.add(`#${original}`);
        return original;
      default: {
        const copied = copyPlainValue(kind, original);
        if (kind === 'nameLists') chargeWork(countEntries(copied, kind));
        if (kind === 'names') chargeWork(Math.min(countEntries(copied, kind), MAX_UNROLLED_NAMES));
        return copied;
      }
    }
  }

  const schema = copySubschema(source, '#', 1);
  if (findings.hasDroppedPattern && findings.hasNegation) throw new UncheckableSchemaError('pattern');
  // A reference into data, such as an `enum`, would evaluate a subschema that was not prepared.
  if (!references.every((reference) => validTargets.has(decodeReference(reference))))
    throw new UncheckableSchemaError('unknown_reference');
  return {
    schema,
    patterns,
    isPartial: findings.hasDroppedPattern,
    tracksEvaluated: findings.tracksEvaluated,
  };
}

/** Copies values that contain no schemas. Rejects wrong types, because Ajv would write them into code. */
function copyPlainValue(kind: KeywordKind, original: unknown): unknown {
  switch (kind) {
    case 'type':
      if (!(Array.isArray(original) ? original : [original]).every((item) => JSON_TYPES.has(item as string)))
        break;
      return Array.isArray(original) ? [...new Set(original)] : original;
    case 'number':
      if (typeof original !== 'number' || !Number.isFinite(original)) break;
      return original;
    case 'count':
      if (!Number.isSafeInteger(original) || (original as number) < 0) break;
      return original;
    case 'flag':
      if (typeof original !== 'boolean') break;
      return original;
    case 'names':
      return readNames(original);
    case 'nameLists':
      return mapEntries(original, readNames);
    case 'values':
      return requireNonEmpty(requireArray(original));
    default:
      return original;
  }
  throw new UncheckableSchemaError('not_a_schema');
}

function readNames(original: unknown): string[] {
  const list = requireArray(original);
  if (!list.every((item) => typeof item === 'string')) throw new UncheckableSchemaError('not_a_schema');
  return [...new Set(list)];
}

function requireArray(original: unknown): unknown[] {
  if (!Array.isArray(original)) throw new UncheckableSchemaError('not_a_schema');
  return original;
}

function requireNonEmpty<T>(list: T[]): T[] {
  if (list.length === 0) throw new UncheckableSchemaError('not_a_schema');
  return list;
}

function mapEntries(original: unknown, mapValue: (value: unknown, key: string) => unknown): SchemaObject {
  if (!isObject(original)) throw new UncheckableSchemaError('not_a_schema');
  const entries = Object.entries(original).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(entries.map(([key, value]) => [key, mapValue(value, key)]));
}

function countEntries(copied: unknown, kind: KeywordKind): number {
  if (kind === 'nameLists') return Object.entries(copied as SchemaObject).flat(2).length;
  if (kind === 'schema') return 1;
  if (Array.isArray(copied)) return copied.length;
  return isObject(copied) ? Object.keys(copied).length : 1;
}

function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Fragments can be percent-encoded (RFC 6901, section 6). */
function decodeReference(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    throw new UncheckableSchemaError('unknown_reference');
  }
}

/** How the value of a keyword is copied. Annotations and unknown keywords are dropped. */
type KeywordKind =
  | 'type'
  | 'values'
  | 'any'
  | 'number'
  | 'count'
  | 'flag'
  | 'names'
  | 'nameLists'
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'pattern'
  | 'reference'
  | 'anchor';

/** JSON Schema 2020-12. `format` is an annotation (validation, section 7.2.1), so the server checks it. */
const keywords: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
  ['type', 'type'],
  ['enum', 'values'],
  ['const', 'any'],
  ['multipleOf', 'number'],
  ['maximum', 'number'],
  ['minimum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['maxLength', 'count'],
  ['minLength', 'count'],
  ['maxItems', 'count'],
  ['minItems', 'count'],
  ['maxContains', 'count'],
  ['minContains', 'count'],
  ['maxProperties', 'count'],
  ['minProperties', 'count'],
  ['uniqueItems', 'flag'],
  ['required', 'names'],
  ['dependentRequired', 'nameLists'],
  ['pattern', 'pattern'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['unevaluatedItems', 'schema'],
  ['unevaluatedProperties', 'schema'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
  ['allOf', 'schemas'],
  ['anyOf', 'schemas'],
  ['oneOf', 'schemas'],
  ['prefixItems', 'schemas'],
  ['properties', 'schemaMap'],
  ['patternProperties', 'schemaMap'],
  ['dependentSchemas', 'schemaMap'],
  ['$defs', 'schemaMap'],
  ['definitions', 'schemaMap'],
  ['$ref', 'reference'],
  ['$dynamicRef', 'reference'],
  ['$anchor', 'anchor'],
  ['$dynamicAnchor', 'anchor'],
]);

/** Keywords that can succeed because a subschema fails. Leaving out a pattern inside could reject valid arguments. */
const negatingKeywords: ReadonlySet<string> = new Set([
  'not',
  'if',
  'oneOf',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
]);

/** Whether `$schema` names a draft before 2019-09. Without `$schema`, MCP uses 2020-12. */
function isOldDraft(schema: Readonly<SchemaObject>): boolean {
  const { $schema } = schema;
  return typeof $schema === 'string' && /\/draft-0[3-7]\//.test($schema);
}

/**
 * Converts a subschema to 2020-12. Many servers use older keywords without `$schema`. The spellings do not conflict, so both are
 * always accepted.
 */
function normalizeDraft(subschema: Readonly<SchemaObject>, usesOldDraft: boolean): SchemaObject {
  // Up to draft-07, siblings of `$ref` are ignored.
  if (usesOldDraft && typeof subschema['$ref'] === 'string') {
    const { $ref, definitions, $defs } = subschema;
    return { $ref, ...(definitions !== undefined && { definitions }), ...($defs !== undefined && { $defs }) };
  }
  const { dependencies, ...normalized }: SchemaObject = subschema;
  if (Array.isArray(normalized['items'])) {
    normalized['prefixItems'] = normalized['items'];
    delete normalized['items'];
    if (normalized['additionalItems'] !== undefined) normalized['items'] = normalized['additionalItems'];
  }
  convertExclusiveLimit(normalized, 'exclusiveMinimum', 'minimum');
  convertExclusiveLimit(normalized, 'exclusiveMaximum', 'maximum');
  if (isObject(dependencies)) splitDependencies(dependencies, normalized);
  return normalized;
}

/** Draft-04 uses `exclusiveMinimum: true` with `minimum`. */
function convertExclusiveLimit(subschema: SchemaObject, flag: string, limit: string): void {
  if (typeof subschema[flag] !== 'boolean') return;
  const isExclusive = subschema[flag];
  subschema[flag] = isExclusive ? subschema[limit] : undefined;
  if (isExclusive) subschema[limit] = undefined;
}

function splitDependencies(dependencies: SchemaObject, target: SchemaObject): void {
  const entries = Object.entries(dependencies);
  target['dependentRequired'] ??= Object.fromEntries(entries.filter(([, value]) => Array.isArray(value)));
  target['dependentSchemas'] ??= Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)));
}
