import { describe, expect, test } from '@jest/globals';
import { createArgumentRig } from '../../test/argumentRig.ts';
import type { JsonObject } from '../upstream/upstream.ts';

const forecast = {
  type: 'object',
  properties: {
    location: {
      type: 'object',
      properties: { city: { type: 'string', minLength: 1 }, zip: { type: 'string', pattern: '^\\d{5}$' } },
      required: ['city'],
      additionalProperties: false,
    },
    days: { type: 'integer', minimum: 1, maximum: 14 },
    units: { enum: ['metric', 'imperial'] },
  },
  required: ['location'],
} as const;

describe('the arguments of a call', () => {
  test('every field that is missing or wrong is named by its path', () => {
    const { check, logged } = createArgumentRig();
    expect(
      check(forecast, { location: { city: 'Bern', zip: '30000' }, days: 3, units: 'metric' }),
    ).toBeNull();
    expect(check(forecast, {})).toEqual([
      { path: 'arguments.location', code: 'missing', message: 'arguments.location is required (object).' },
    ]);
    expect(check(forecast, { location: { zip: 'x', citi: 'Bern' }, days: '3', units: 'kelvin' })).toEqual([
      {
        path: 'arguments.location.city',
        code: 'missing',
        message: 'arguments.location.city is required (string).',
      },
      {
        path: 'arguments.location.citi',
        code: 'unknown_field',
        message: 'arguments.location.citi is not a field of this tool.',
        suggestion: 'did you mean "city"?',
      },
      {
        path: 'arguments.location.zip',
        code: 'wrong_form',
        message: 'arguments.location.zip must match the pattern ^\\d{5}$.',
      },
      { path: 'arguments.days', code: 'wrong_type', message: 'arguments.days must be integer, not string.' },
      {
        path: 'arguments.units',
        code: 'not_allowed',
        message: 'arguments.units must be one of "metric", "imperial".',
      },
    ]);
    expect(check(forecast, { location: { city: '' }, days: 99 })).toEqual([
      {
        path: 'arguments.location.city',
        code: 'wrong_size',
        message: 'arguments.location.city must have at least 1 characters.',
      },
      { path: 'arguments.days', code: 'out_of_range', message: 'arguments.days must be <= 14.' },
    ]);
    expect(logged).toEqual([]);
  });

  test('a long list of mistakes is cut at twenty', () => {
    const { check } = createArgumentRig();
    const schema = { type: 'object', properties: { list: { type: 'array', items: { type: 'string' } } } };
    expect(check(schema, { list: Array.from({ length: 3_000 }, (_, i) => i) })).toHaveLength(20);
    // Too many to name them all: the first one is.
    expect(check(schema, { list: Array.from({ length: 40_000 }, (_, i) => i % 10) })).toEqual([
      { path: 'arguments.list[0]', code: 'wrong_type', message: 'arguments.list[0] must be string.' },
    ]);
  });

  test('no value that was sent is repeated, whatever is wrong with it', () => {
    const { check } = createArgumentRig();
    const secret = 'sk-live-4242424242424242';
    const wrong = [
      check(forecast, { location: { city: 'x', zip: secret }, days: secret, units: secret }),
      check(
        { type: 'object', properties: { a: { const: 1 }, b: { type: 'array' } } },
        { a: secret, b: secret },
      ),
      check({ type: 'object', propertyNames: { maxLength: 3 } }, { abc: secret, abcd: secret }),
      check({ anyOf: [{ required: ['a'] }, { properties: { b: { type: 'number' } } }] }, { b: secret }),
    ];
    expect(wrong.every((found) => found !== null && found.length > 0)).toBe(true);
    expect(JSON.stringify(wrong)).not.toContain('4242');
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';
    expect(JSON.stringify(check({ additionalProperties: false }, { [token]: 1 }))).not.toContain(
      'c2lnbmF0dXJl',
    );
  });

  test('nothing is converted, filled in or removed', () => {
    const { check } = createArgumentRig();
    const schema = { type: 'object', properties: { n: { type: 'number' }, d: { default: 7 } } };
    const args = Object.freeze({ n: 1, extra: Object.freeze([null]) });
    expect(check(schema, args)).toBeNull();
    expect(args).toEqual({ n: 1, extra: [null] });
    expect(check(schema, { n: '1' })).toHaveLength(1);
  });

  test('null is as good as left out, where that may be left out', () => {
    const { check } = createArgumentRig();
    expect(check(forecast, { location: { city: 'Bern' }, days: null, units: null })).toBeNull();
    expect(check(forecast, { location: null })).toMatchObject([{ path: 'arguments.location' }]);
    expect(check(forecast, { location: { city: null } })).toMatchObject([
      { path: 'arguments.location.city' },
    ]);
    expect(check(forecast, { location: { city: 'Bern' }, days: 99, units: null })).not.toBeNull();
  });

  test('more than 256 KiB or 32 levels are refused, also without a schema', () => {
    const { check } = createArgumentRig();
    const nested = (depth: number): unknown => (depth === 1 ? {} : { a: nested(depth - 1) });
    expect(check({}, nested(32))).toBeNull();
    expect(check({}, nested(33))).toMatchObject([{ path: 'arguments', code: 'too_deep' }]);
    expect(check({}, { text: 'x'.repeat(255 * 1024) })).toBeNull();
    expect(check({}, { text: 'x'.repeat(256 * 1024) })).toMatchObject([{ code: 'too_large' }]);
    expect(check({}, { text: 'ü'.repeat(130 * 1024) })).toMatchObject([{ code: 'too_large' }]);
    expect(check({}, { list: new Array(200_000).fill(1) })).toMatchObject([{ code: 'too_large' }]);
  });

  test('the older drafts are read as they were meant', () => {
    const { check, logged } = createArgumentRig();
    const draft7 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://example.com/tool.json',
      definitions: { id: { type: 'integer' } },
      properties: {
        pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
        // Beside a $ref everything was ignored.
        id: { $ref: '#/definitions/id', minimum: 100 },
      },
      dependencies: { a: ['b'], c: { required: ['d'] } },
    };
    expect(check(draft7, { pair: ['x', 1], id: 3, a: 1, b: 2, c: 1, d: 1 })).toBeNull();
    expect(check(draft7, { pair: [1, 1] })).toMatchObject([{ path: 'arguments.pair[0]' }]);
    expect(check(draft7, { pair: ['x', 1, 2] })).toHaveLength(1);
    expect(check(draft7, { id: 'x' })).toMatchObject([{ path: 'arguments.id', code: 'wrong_type' }]);
    expect(check(draft7, { a: 1 })).toMatchObject([{ path: 'arguments.b', code: 'missing' }]);
    expect(check(draft7, { c: 1 })).toMatchObject([{ path: 'arguments.d', code: 'missing' }]);

    const draft4 = {
      properties: { n: { minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } },
    };
    expect(check(draft4, { n: 9 })).toBeNull();
    expect(check(draft4, { n: 0 })).toMatchObject([{ path: 'arguments.n', code: 'out_of_range' }]);

    const draft2020 = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $defs: { id: { $anchor: 'id', type: 'integer' } },
      properties: {
        pair: { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        id: { $ref: '#id', minimum: 100 },
      },
      unevaluatedProperties: false,
    };
    expect(check(draft2020, { pair: ['x', 1], id: 100 })).toBeNull();
    expect(check(draft2020, { id: 3 })).toMatchObject([{ path: 'arguments.id', code: 'out_of_range' }]);
    expect(check(draft2020, { other: 1 })).toMatchObject([
      { path: 'arguments.other', code: 'unknown_field' },
    ]);
    expect(logged).toEqual([]);
  });

  test('names that every object inherits are fields like others', () => {
    const { check } = createArgumentRig();
    const schema = JSON.parse(
      '{"properties":{"constructor":{"type":"string"},"__proto__":{"type":"string"}},"required":["toString"]}',
    ) as JsonObject;
    expect(check(schema, {})).toMatchObject([{ path: 'arguments.toString', code: 'missing' }]);
    expect(check(schema, { toString: 1 })).toBeNull();
    expect(check(schema, { toString: 1, constructor: 2 })).toMatchObject([{ path: 'arguments.constructor' }]);
  });
});
