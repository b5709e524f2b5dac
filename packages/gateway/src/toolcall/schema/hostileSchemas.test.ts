import { describe, expect, test } from '@jest/globals';
import { createArgumentRig, forecastTool } from '../../../test/argumentRig.ts';
import type { JsonObject } from '../../upstream/upstream.ts';

describe('a schema that means harm', () => {
  const big = { list: Array.from({ length: 20_000 }, (_, i) => ({ i })) };
  const doubling = (levels: number, keyword: string, end: JsonObject): JsonObject => ({
    $ref: '#/$defs/l0',
    $defs: Object.fromEntries([
      ...Array.from({ length: levels }, (_, i) => [
        `l${i}`,
        { [keyword]: [{ $ref: `#/$defs/l${i + 1}` }, { $ref: `#/$defs/l${i + 1}` }] },
      ]),
      [`l${levels}`, end],
    ]) as JsonObject,
  });

  /** `end`, asked for as often as the square of the width. */
  const square = (width: number, end: JsonObject): JsonObject => {
    const all = ($ref: string) => ({ allOf: Array.from({ length: width }, () => ({ $ref })) });
    return { $ref: '#/$defs/a', $defs: { a: all('#/$defs/b'), b: all('#/$defs/end'), end } };
  };
  const fields = (count: number, name = 'k') =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, 1]));

  test('a pattern that explodes elsewhere takes linear time', () => {
    const { check, logged } = createArgumentRig();
    const schema = { properties: { text: { type: 'string', pattern: '^(a|a)*$' } } };
    const text = `${'a'.repeat(40)}!`;
    expect(check(schema, { text })).toMatchObject([{ path: 'arguments.text', code: 'wrong_form' }]);
    expect(check(schema, { text: 'a'.repeat(40) })).toBeNull();
    const names = { patternProperties: { '^(a|a)*$': { type: 'string' } } };
    expect(check(names, { [text]: 1 })).toBeNull();
    expect(logged).toEqual([]);
  });

  test('one that the linear engine reads otherwise is left out, and that is logged', () => {
    const { check, checker, logged } = createArgumentRig();
    const patterns = [
      '^(?=.*\\d).+$',
      '(a)\\1',
      '(?<n>a)\\k<n>',
      '[[:alpha:]]',
      '(x{999}){999}',
      '^(?!x)',
      'a{',
    ];
    for (const pattern of patterns.slice(0, 6)) {
      const schema = { required: ['text'], properties: { text: { pattern } } };
      expect(check(schema, { text: '-' })).toBeNull();
      // The rest is checked all the same.
      expect(check(schema, {})).toMatchObject([{ path: 'arguments.text', code: 'missing' }]);
      checker.validate({ serverId: 'weather', toolName: 'other' }, schema, {});
      // Where leaving it out would turn a yes into a no, nothing is checked.
      expect(check({ not: { properties: { text: { pattern } } } }, { text: '-' })).toBeNull();
    }
    expect(logged).toHaveLength(6 * 3);
    expect(logged[0]).toEqual([
      'arguments_not_validated',
      { server: 'weather', tool: 'forecast', reason: 'pattern' },
    ]);
  });

  test('a reference that leaves the document is not followed, and nothing is checked', () => {
    for (const $ref of [
      'https://evil.example/s.json',
      'file:///etc/passwd',
      'other.json#/x',
      '//evil.example/x',
      '',
    ]) {
      const { check, reasons } = createArgumentRig();
      const schema = { type: 'object', properties: { a: { $ref } } };
      expect(check(schema, { a: 1 })).toBeNull();
      expect(check(schema, 'not even an object')).toBeNull();
      expect(reasons()).toEqual(['remote_reference']);
    }
  });

  test('the name of one schema means nothing in another', () => {
    const { check, reasons } = createArgumentRig();
    const named = { $id: 'https://a.example/s', $defs: { x: { $anchor: 'x', type: 'string' } }, $ref: '#x' };
    expect(check(named, 'a')).toBeNull();
    expect(check({ $ref: 'https://a.example/s' }, 1)).toBeNull();
    expect(check({ $ref: '#x' }, 1)).toBeNull();
    expect(check({ properties: { a: { $id: 'https://b.example', $ref: '#' } } }, 1)).toBeNull();
    expect(reasons()).toEqual(['remote_reference', 'unknown_reference', 'unknown_reference']);
  });

  test('what would be evaluated without end is given up, in bounded time', () => {
    const loop = {
      $defs: { n: { anyOf: [{ $ref: '#/$defs/n' }, { properties: { a: { $ref: '#/$defs/n' } } }] } },
      $ref: '#/$defs/n',
    };
    const list = (items: unknown) => ({ properties: { list: { type: 'array', items } } }) as JsonObject;
    const text = { text: 'x'.repeat(200_000) };
    const keys = Object.fromEntries(Array.from({ length: 15_000 }, (_, i) => [String(i), 1]));
    const costly: [string, JsonObject, unknown][] = [
      ['doubling allOf', doubling(60, 'allOf', {}), {}],
      ['doubling anyOf', doubling(60, 'anyOf', { type: 'string' }), 1],
      ['endless', loop, {}],
      [
        'a long enum',
        list({ enum: Array.from({ length: 20_000 }, (_, i) => `v${i}`) }),
        { list: Array(20_000).fill('v19999') },
      ],
      ['many lengths', { properties: { text: { allOf: Array(390).fill({ maxLength: 300_000 }) } } }, text],
      ['long text', { properties: { text: { pattern: '^([a-z]{1,200})*$' } } }, text],
      ['key after key', { allOf: Array(390).fill({ minProperties: 2 }) }, keys],
      ['names', { propertyNames: { allOf: Array(300).fill({ pattern: '^[0-9]{1,9}$' }) } }, keys],
    ];
    for (const [name, schema, args] of costly) {
      const { check, checker, reasons } = createArgumentRig();
      // Unbounded, each of these takes from seconds to longer than the universe has existed.
      expect([name, check(schema, args), reasons()]).toEqual([name, null, ['too_costly']]);
      for (let i = 0; i < 2; i += 1) check(schema, args);
      // After three it is not tried again, not even with arguments that would have been cheap.
      expect(checker.validate({ ...forecastTool, toolName: 'other' }, schema, null)).toBeNull();
      expect([name, reasons()]).toEqual([name, ['too_costly', 'too_costly']]);
    }
  });

  test('comparing, remembering and naming are paid for', () => {
    const ones = { x: Array<number>(40_000).fill(1) };
    const chained = Object.fromEntries(
      Array.from({ length: 70 }, (_, i) => [`c${i}`, { allOf: [{ $ref: `#/$defs/c${i + 1}` }] }]),
    );
    const costly: [string, JsonObject, unknown][] = [
      ['a large constant', square(20, { const: ones }), ones],
      ['fields of a constant', square(20, { not: { const: { a: 1 } } }), fields(15_000)],
      ['fields inside a constant', square(20, { not: { const: { a: { b: 1 } } } }), { a: fields(15_000) }],
      ['a long text inside', square(20, { const: ['x'.repeat(200_000)] }), ['x'.repeat(200_000)]],
      ['a large enum', square(20, { not: { enum: [ones] } }), { x: [...ones.x.slice(1), 2] }],
      ['items that nothing is asked of', square(20, { not: { contains: false } }), ones.x],
      [
        'what was evaluated',
        {
          unevaluatedProperties: false,
          $ref: '#/$defs/c0',
          $defs: { ...chained, c70: { patternProperties: { '^': true } } },
        },
        fields(3_000),
      ],
      [
        'a long name',
        square(10, {
          allOf: Array(10).fill({ additionalProperties: { $ref: '#/$defs/end/$defs/n' } }),
          $defs: { n: {} },
        }),
        { ['k'.repeat(200_000)]: 1 },
      ],
    ];
    for (const [name, schema, args] of costly) {
      const { check, reasons } = createArgumentRig();
      expect([name, check(schema, args), reasons()]).toEqual([name, null, ['too_costly']]);
    }
  });

  test('what explains is bounded as well', () => {
    const { check, logged } = createArgumentRig();
    // 200 times 25,000 mistakes: the first is named.
    const none = { properties: { list: { allOf: Array(200).fill({ items: false }) } } };
    expect(check(none, { list: Array(25_000).fill(1) })).toHaveLength(1);
    // A thousand times the same, which is as large as a schema may be.
    const same = square(30, { enum: [Array(20_000).fill('abcdefgh')] });
    expect(check(same, {})).toEqual([
      {
        path: 'arguments',
        code: 'not_allowed',
        message: 'arguments must be one of the array defined in the schema.',
      },
    ]);
    expect(logged).toEqual([]);
  });

  test('schemas as large as people write them are checked', () => {
    const { check, logged } = createArgumentRig();
    const optional = (name: string): [string, unknown] => [
      name,
      { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
    ];
    const names = Array.from({ length: 100 }, (_, i) => `field${i}`);
    const many = { type: 'object', properties: Object.fromEntries(names.map(optional)), required: names };
    const all = Object.fromEntries(names.map((name) => [name, null]));
    expect(check(many, all)).toBeNull();
    expect(check(many, { ...all, field7: 7 })).toMatchObject([
      { path: 'arguments.field7' },
      { path: 'arguments.field7' },
      { path: 'arguments.field7', code: 'no_match' },
    ]);
    expect(check(many, {})).toHaveLength(20);
    expect(logged).toEqual([]);
  });

  test('unique items are found in linear time, objects too', () => {
    const { check, logged } = createArgumentRig();
    const schema = { properties: { list: { uniqueItems: true } } };
    expect(check(schema, big)).toBeNull();
    expect(check(schema, { list: [{ a: 1, b: [2] }, 3, { b: [2], a: 1 }] })).toMatchObject([
      { path: 'arguments.list', code: 'not_unique' },
    ]);
    expect(check(schema, { list: [1, '1', [1], { 1: 1 }] })).toBeNull();
    expect(logged).toEqual([]);
  });

  test('a schema beyond the limits is not checked, told once for each tool, and blocks nothing', () => {
    const deep = (n: number): JsonObject => (n === 0 ? {} : { items: deep(n - 1) });
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`p${i}`, { type: 'string' }]),
    );
    const schemas: [string, JsonObject][] = [
      ['too_large', { type: 'string', enum: ['x'.repeat(300_000)] }],
      ['too_deep', deep(40)],
      ['too_many_parts', { type: 'string', properties }],
      ['too_many_parts', { anyOf: Array(2_000).fill(false) }],
      ['too_many_parts', { dependentRequired: { a: Array.from({ length: 1_000 }, (_, i) => `n${i}`) } }],
      [
        'too_many_parts',
        { allOf: Array(60).fill({ required: Array.from({ length: 60 }, (_, i) => `n${i}`) }) },
      ],
      ['too_many_parts', { allOf: Array(200).fill({ type: 'array', minItems: 1, maxItems: 2, const: [1] }) }],
      ['too_many_parts', { allOf: Array.from({ length: 200 }, (_, i) => ({ pattern: `^${i}$` })) }],
      ['not_a_schema', { type: 'text' }],
      ['not_a_schema', { maxLength: '1); throw 1; (' }],
      ['not_a_schema', { properties: [1] }],
      ['not_a_schema', { allOf: [] }],
      ['not_a_schema', { required: 'a' }],
      ['unknown_reference', { enum: [{ $ref: '#/enum/0' }], anyOf: [{ $ref: '#/enum/0' }] }],
      ['unknown_reference', { $ref: '#/$defs/none' }],
      ['unknown_reference', { $ref: '#%E0' }],
    ];
    for (const [reason, schema] of schemas) {
      const { checker, logged } = createArgumentRig();
      for (const toolName of ['one', 'one', 'two']) {
        expect(checker.validate({ serverId: 's', toolName }, schema, { anything: 1 })).toBeNull();
      }
      expect(logged).toEqual([
        ['arguments_not_validated', { server: 's', tool: 'one', reason }],
        ['arguments_not_validated', { server: 's', tool: 'two', reason }],
      ]);
    }
  });

  test('the number of compiled schemas is bounded, and an evicted one works again', () => {
    const { check } = createArgumentRig(2);
    const schemas = Array.from({ length: 5 }, (_, i) => ({ required: [`r${i}`] }));
    for (let round = 0; round < 2; round += 1) {
      for (const [i, schema] of schemas.entries()) {
        expect(check(schema, {})).toMatchObject([{ path: `arguments.r${i}` }]);
        expect(check(schema, { [`r${i}`]: 1 })).toBeNull();
      }
    }
  });
});
