/** How the value of a keyword is read. What is not here is an annotation or unknown, and left out of the check. */
export type KeywordKind =
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

/** JSON Schema 2020-12. `format` is an annotation there (validation, 7.2.1): whether it holds is for the server. */
export const keywords: ReadonlyMap<string, KeywordKind> = new Map<string, KeywordKind>([
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

/** Where something that fails makes the whole succeed: leaving a part out there would refuse what is right. */
export const negatingKeywords: ReadonlySet<string> = new Set([
  'not',
  'if',
  'oneOf',
  'contains',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
