import { describe, expect, test } from '@jest/globals';
import { parseForm, parseNode } from './parseNode.ts';

const node = (schema: unknown, root: Record<string, unknown> = {}) => parseNode(root, schema);

describe('a place of a form', () => {
  test('follows the type', () => {
    expect(node({ type: 'string' })).toMatchObject({ kind: 'text', input: 'area' });
    expect(node({ type: 'string', maxLength: 40 })).toMatchObject({
      kind: 'text',
      input: 'line',
      maxLength: 40,
    });
    expect(node({ type: 'string', maxLength: 4_000 })).toMatchObject({ input: 'area' });
    expect(node({ type: 'string', format: 'email' })).toMatchObject({ input: 'email' });
    expect(node({ type: 'string', format: 'uri' })).toMatchObject({ input: 'url' });
    expect(node({ type: 'string', format: 'date' })).toMatchObject({ input: 'date' });
    expect(node({ type: 'string', format: 'date-time' })).toMatchObject({ input: 'line' });
    expect(node({ type: 'string', pattern: '^a$' })).toMatchObject({ input: 'line' });
    expect(node({ type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 })).toMatchObject({
      ...{ kind: 'number', isInteger: true, min: 1, max: 9, step: 2 },
    });
    expect(node({ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 })).toMatchObject({
      ...{ isInteger: false, above: 0, below: 1, min: undefined },
    });
    expect(node({ minimum: 0, exclusiveMinimum: true })).toMatchObject({
      kind: 'number',
      above: 0,
      min: undefined,
    });
    expect(node({ type: 'boolean' })).toMatchObject({ kind: 'boolean' });
    expect(node({ type: 'null' })).toMatchObject({ kind: 'constant', value: null });
    expect(
      node({ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3, uniqueItems: true }),
    ).toMatchObject({
      ...{ kind: 'list', minItems: 1, maxItems: 3, isUnique: true },
    });
  });

  test('carries the words of the schema', () => {
    expect(node({ type: 'string', title: 'City', description: 'Where', default: 'Bern' })).toMatchObject({
      ...{ title: 'City', description: 'Where', defaultValue: 'Bern' },
    });
    expect(node({ type: 'string', title: 7, description: ['x'] })).toMatchObject({
      title: '',
      description: '',
    });
  });

  test('lists the members of an object, also those that are only required', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: {} }, required: ['b', 'c', 7] };
    expect(node(schema)).toMatchObject({
      kind: 'object',
      properties: [
        { name: 'a', isRequired: false },
        { name: 'b', isRequired: true },
        { name: 'c', isRequired: true, schema: {} },
      ],
    });
  });

  test('is rows of names and values where that is all there is', () => {
    expect(node({ type: 'object', additionalProperties: { type: 'number' } })).toMatchObject({
      ...{ kind: 'map', valueSchema: { type: 'number' } },
    });
    expect(node({ type: 'object', properties: { a: {} }, additionalProperties: true })).toMatchObject({
      kind: 'object',
    });
    expect(node({ type: 'object' })).toMatchObject({ kind: 'json', types: ['object'] });
    expect(node({ type: 'object', additionalProperties: false })).toMatchObject({
      kind: 'object',
      properties: [],
    });
  });

  test('is a choice between values', () => {
    expect(node({ enum: ['a', 1, null] })).toMatchObject({
      kind: 'choice',
      options: [
        { value: 'a', label: 'a' },
        { value: 1, label: '1' },
      ],
      isNullable: true,
    });
    expect(node({ type: 'string', enum: ['a', 'b'], enumNames: ['Ah', 'Beh'] })).toMatchObject({
      options: [{ label: 'Ah' }, { label: 'Beh' }],
    });
    expect(node({ oneOf: [{ const: 'r', title: 'Red' }, { enum: ['g'] }] })).toMatchObject({
      options: [
        { value: 'r', label: 'Red' },
        { value: 'g', label: 'g' },
      ],
    });
    expect(node({ const: 5 })).toMatchObject({ kind: 'constant', value: 5 });
    expect(node({ enum: [null] })).toMatchObject({ kind: 'constant', value: null });
  });

  test('is typed where there is too much to choose from', () => {
    const many = Array.from({ length: 5_000 }, (_, index) => `v${index}`);
    const found = node({ enum: many });
    expect(found).toMatchObject({ kind: 'text', input: 'line' });
    expect(found.kind === 'text' && found.allowed?.has('v4999')).toBe(true);
    expect(node({ enum: [...many, 1] })).toMatchObject({ kind: 'json' });
  });

  test('may be null besides', () => {
    expect(node({ type: ['string', 'null'] })).toMatchObject({ kind: 'text', isNullable: true });
    expect(node({ type: 'integer', nullable: true })).toMatchObject({ kind: 'number', isNullable: true });
    const optional = {
      anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }],
      default: null,
      title: 'Limit',
    };
    expect(node(optional)).toMatchObject({
      kind: 'number',
      min: 1,
      isNullable: true,
      title: 'Limit',
      defaultValue: null,
    });
    expect(node({ anyOf: [{ type: 'null' }] })).toMatchObject({ kind: 'constant', value: null });
  });

  test('is a choice between forms', () => {
    const shapes = {
      oneOf: [
        { properties: { kind: { const: 'circle' }, radius: { type: 'number' } } },
        { title: 'A box', properties: { kind: { const: 'box' } } },
        { type: 'string' },
        { type: 'null' },
      ],
      description: 'What to draw',
    };
    expect(node(shapes)).toMatchObject({
      kind: 'variants',
      variants: [{ label: 'circle' }, { label: 'A box' }, { label: 'string' }],
      isNullable: true,
      description: 'What to draw',
    });
    expect(node({ type: ['string', 'number', 'null'] })).toMatchObject({
      ...{ kind: 'variants', variants: [{ label: 'string' }, { label: 'number' }], isNullable: true },
    });
  });

  test('gives each form what all have in common, and leaves mere conditions to the gateway', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    };
    expect(node(schema)).toMatchObject({ kind: 'object', properties: [{ name: 'a' }] });
    const shared = {
      properties: { id: { type: 'string' } },
      required: ['id'],
      anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
    };
    const found = node(shared);
    expect(found.kind === 'variants' && found.variants.map(({ schema: one }) => node(one))).toMatchObject([
      { properties: [{ name: 'a' }, { name: 'id', isRequired: true }] },
      { properties: [{ name: 'b' }, { name: 'id', isRequired: true }] },
    ]);
  });

  test('follows references inside the document', () => {
    const root = {
      $defs: { 'a/b': { type: 'integer', title: 'Theirs', minimum: 3 }, loop: { $ref: '#/$defs/loop' } },
      definitions: { old: { $ref: '#/$defs/a~1b' } },
      list: [{ type: 'boolean' }],
    };
    expect(node({ $ref: '#/$defs/a~1b', title: 'Ours' }, root)).toMatchObject({
      kind: 'number',
      title: 'Ours',
      min: 3,
    });
    expect(node({ $ref: '#/definitions/old' }, root)).toMatchObject({ kind: 'number', title: 'Theirs' });
    expect(node({ $ref: '#/$defs/a%7E1b' }, root)).toMatchObject({ kind: 'number' });
    expect(node({ $ref: '#/list/0' }, root)).toMatchObject({ kind: 'boolean' });
    for (const $ref of [
      '#/$defs/loop',
      '#/nowhere',
      '#anchor',
      'https://example.com/x',
      7,
      '#/constructor',
      '#/list/at',
    ]) {
      expect(node({ $ref }, root)).toMatchObject({ kind: 'json' });
    }
    expect(node({ $dynamicRef: '#x' }, root)).toMatchObject({ kind: 'json' });
  });

  test('merges what must hold together, where that is simply said', () => {
    const root = {
      $defs: { base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } },
    };
    const both = {
      allOf: [{ $ref: '#/$defs/base' }, { properties: { n: { minimum: 1 } }, required: ['n'] }],
    };
    expect(node(both, root)).toMatchObject({
      kind: 'object',
      properties: [
        { name: 'id', isRequired: true },
        { name: 'n', isRequired: true },
      ],
    });
    expect(
      node({
        type: 'number',
        allOf: [{ type: 'integer', minimum: 1 }, { minimum: 5, maximum: 9 }, { maximum: 7 }],
      }),
    ).toMatchObject({
      ...{ kind: 'number', isInteger: true, min: 5, max: 7 },
    });
    expect(node({ enum: ['a', 'b', 'c'], allOf: [{ enum: ['b', 'c', 'd'] }] })).toMatchObject({
      options: [{ value: 'b' }, { value: 'c' }],
    });
    const twice = node({
      allOf: [{ properties: { a: { type: 'string' } } }, { properties: { a: { maxLength: 5 } } }],
    });
    expect(twice.kind === 'object' && node(twice.properties[0]?.schema)).toMatchObject({
      kind: 'text',
      maxLength: 5,
    });
    expect(node({ allOf: [{ type: 'string' }, { type: 'number' }] })).toMatchObject({ kind: 'json' });
  });

  test('is JSON where a form cannot say it', () => {
    for (const schema of [
      {},
      true,
      false,
      null,
      'string',
      { type: 'array' },
      { type: 'array', prefixItems: [{}] },
      { type: 'array', items: [{}, {}] },
      { type: 'object', patternProperties: { '^x': {} } },
      { type: 'strange' },
      { anyOf: [{ type: 'string' }], oneOf: [{ type: 'number' }] },
      { not: { type: 'string' } },
    ]) {
      expect(node(schema)).toMatchObject({ kind: 'json' });
    }
    expect(node({ properties: { a: {} }, if: {}, then: {} })).toMatchObject({
      kind: 'object',
      isPartial: true,
    });
  });
});

describe('the form of a tool', () => {
  test('is empty where the tool takes nothing, however that is said', () => {
    for (const schema of [
      {},
      { type: 'object' },
      { type: 'object', properties: {}, required: [] },
      undefined,
      null,
      [],
    ]) {
      expect(parseForm(schema).node).toMatchObject({ kind: 'object', properties: [] });
    }
    const silent = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      additionalProperties: false,
    };
    expect(parseForm(silent).node).toMatchObject({ kind: 'object', properties: [] });
    expect(parseForm({ type: 'object', additionalProperties: true }).node).toMatchObject({ kind: 'map' });
    expect(parseForm({ type: 'object', patternProperties: { a: {} } }).node).toMatchObject({ kind: 'json' });
  });
});
