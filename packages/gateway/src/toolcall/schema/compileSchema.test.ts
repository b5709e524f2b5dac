import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { JsonObject } from '../../upstream/upstream.ts';
import { compileSchema } from './compileSchema.ts';

describe('a compiled schema', () => {
  const scalar = fc.constantFrom('string', 'integer', 'number', 'boolean', 'null', 'array', 'object');
  const names = fc.constantFrom('a', 'b', 'c');
  const keyword = (name: string, value: fc.Arbitrary<unknown>) => fc.tuple(fc.constant(name), value);
  const structured = fc.oneof(
    fc.dictionary(names, fc.integer({ min: 0, max: 1 }), { maxKeys: 2 }),
    fc.array(names, { maxLength: 1 }),
  );
  const leaves = [
    keyword('type', fc.oneof(scalar, fc.uniqueArray(scalar, { minLength: 1, maxLength: 3 }))),
    keyword(
      'enum',
      fc.array(fc.oneof(fc.integer({ min: 0, max: 2 }), names, structured), { minLength: 1, maxLength: 3 }),
    ),
    keyword('const', fc.oneof(fc.constantFrom<unknown>(null, 1, 'a', [], {}), structured)),
    keyword('minimum', fc.integer({ min: -1, max: 2 })),
    keyword('multipleOf', fc.constantFrom(1, 2)),
    keyword('minLength', fc.constantFrom(0, 1, 2)),
    keyword('pattern', fc.constantFrom('^a', 'b$', '[a-b]+', '^.?$')),
    keyword('uniqueItems', fc.boolean()),
    keyword('maxItems', fc.constantFrom(1, 2)),
    keyword('required', fc.uniqueArray(names, { maxLength: 2 })),
    keyword(
      'dependentRequired',
      fc.dictionary(names, fc.uniqueArray(names, { maxLength: 2 }), { maxKeys: 1 }),
    ),
    keyword('additionalProperties', fc.boolean()),
    keyword('unevaluatedProperties', fc.boolean()),
    keyword('$ref', fc.constant('#/$defs/x')),
  ];
  const object = (entries: fc.Arbitrary<[string, unknown]>) =>
    fc.array(entries, { maxLength: 3 }).map((list) => Object.fromEntries(list) as JsonObject);
  const nested = (inner: fc.Arbitrary<JsonObject>) => {
    const some = fc.array(inner, { minLength: 1, maxLength: 2 });
    const map = fc.dictionary(names, inner, { maxKeys: 2 });
    const one = ['items', 'contains', 'not', 'if', 'then', 'else', 'propertyNames', 'additionalProperties'];
    return object(
      fc.oneof(
        ...leaves,
        ...one.map((name) => keyword(name, inner)),
        ...['allOf', 'anyOf', 'oneOf', 'prefixItems'].map((name) => keyword(name, some)),
        ...['properties', 'properties', 'dependentSchemas'].map((name) => keyword(name, map)),
        keyword('patternProperties', fc.dictionary(fc.constantFrom('^a', 'b'), inner, { maxKeys: 1 })),
      ),
    );
  };
  const leaf = object(fc.oneof(...leaves.slice(0, -1)));
  const schemas = nested(nested(leaf));

  test('whatever a schema says, the verdict is that of a checker without our limits', () => {
    const value = fc.jsonValue({ maxDepth: 3 }).map((json) => json as unknown);
    const near = fc.dictionary(names, fc.oneof(fc.integer({ min: 0, max: 3 }), names, fc.array(names)), {
      maxKeys: 3,
    });
    const options = { strict: false, logger: false, meta: false, validateSchema: false } as const;
    let checked = 0;
    fc.assert(
      fc.property(
        schemas,
        leaf,
        fc.array(fc.oneof(near, value), { maxLength: 6 }),
        (schema, x, generated) => {
          // As a parser gives them: an object without a prototype is no JSON, and the other checker minds.
          const candidates = JSON.parse(JSON.stringify(generated)) as unknown[];
          const whole = JSON.parse(JSON.stringify({ ...schema, $defs: { x } })) as JsonObject;
          const plain = new Ajv2020({ ...options, ownProperties: true, multipleOfPrecision: 8 }).compile(
            whole,
          );
          const compiled = compileSchema(whole);
          for (const candidate of candidates) {
            expect(compiled.accepts(candidate)).toBe(plain(candidate));
            expect(compiled.findErrors(candidate).length === 0).toBe(plain(candidate));
            checked += 1;
          }
          expect(compiled.isPartial).toBe(false);
        },
      ),
      { numRuns: 80 },
    );
    expect(checked).toBeGreaterThan(100);
  });
});
