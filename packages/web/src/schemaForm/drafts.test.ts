import { describe, expect, test } from '@jest/globals';
import { createDraft, draftFromArguments, createNewDraft } from './createDraft.ts';
import type { Draft } from './formNode.ts';
import { collectArguments } from './collectArguments.ts';
import { parseForm, parseNode } from './parseNode.ts';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    days: { type: 'integer', minimum: 1, maximum: 14, default: 3 },
    units: { enum: ['metric', 'imperial'] },
    alerts: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
    place: {
      type: 'object',
      properties: { lat: { type: 'number' }, lon: { type: 'number' } },
      required: ['lat'],
    },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
  required: ['city', 'alerts'],
};
const form = parseForm(schema);

const messages = (draft: Draft, of = form) =>
  collectArguments(of, draft).errors.map(({ path, message }) => [path.join('.'), message]);

describe('a form that nobody has touched', () => {
  test('says what the schema fills in, and leaves the optional out', () => {
    const { args, errors } = collectArguments(form, createDraft(form));
    expect(args).toEqual({ days: 3, alerts: false });
    expect(errors).toEqual([{ path: ['city'], message: 'Enter a value.' }]);
  });

  test('fills in defaults at every depth that is there', () => {
    const nested = parseForm({
      properties: {
        a: { type: 'object', properties: { b: { type: 'string', default: 'x' }, c: {} }, required: [] },
        d: { type: 'array', items: { type: 'integer', default: 5 }, minItems: 2 },
        e: { type: 'object', default: { f: 1 } },
        g: { type: 'string', default: '' },
        h: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
        i: { type: ['string', 'null'], default: null },
        j: { type: 'number', default: 'wrong' },
      },
      required: ['a', 'd', 'i', 'g'],
    });
    const { args, errors } = collectArguments(nested, createDraft(nested));
    expect(args).toEqual({ a: { b: 'x' }, d: [5, 5], e: { f: 1 }, g: '', i: null, j: 'wrong' });
    expect(errors).toEqual([]);
  });

  test('chooses what there is no choice about', () => {
    const one = parseForm({
      properties: { a: { enum: ['x'] }, b: { const: 7 }, c: { const: 8 } },
      required: ['a', 'b'],
    });
    expect(collectArguments(one, createDraft(one)).args).toEqual({ a: 'x', b: 7 });
  });
});

describe('arguments in a form', () => {
  test('come out as they went in', () => {
    for (const args of [
      {},
      { city: 'Bern', alerts: true },
      {
        city: 'Bern',
        days: 1,
        units: 'imperial',
        alerts: false,
        tags: ['a', 'b'],
        place: { lat: 1.5 },
        labels: { x: 'y' },
      },
      { city: '', alerts: true, tags: [] },
      { city: 7, days: 'many', units: 'kelvin', alerts: null, tags: 'no list', place: [], labels: 3 },
      { alerts: true, unknown: { a: [1] }, place: { lat: 1, height: 'x' }, labels: { a: 1 } },
    ]) {
      // A switch that must say something says no.
      expect(collectArguments(form, draftFromArguments(form, args)).args).toEqual({ alerts: false, ...args });
    }
  });

  test('are completed by what is required, and by nothing else', () => {
    const nested = parseForm({
      properties: {
        owner: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
        kind: { type: 'string', default: 'a' },
        level: { type: 'integer', default: 2 },
      },
      required: ['owner', 'kind'],
    });
    const draft = draftFromArguments(nested, {});
    expect(collectArguments(nested, draft)).toMatchObject({
      args: { owner: {}, kind: 'a' },
      errors: [{ path: ['owner', 'mail'] }],
    });
  });

  test('keep the names of prototypes as names', () => {
    const hostile = parseForm(
      JSON.parse(
        '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"object","properties":{"toString":{"type":"string"}}}},"required":["__proto__","hasOwnProperty"]}',
      ),
    );
    const text = '{"__proto__":"a","constructor":{"toString":"b"},"hasOwnProperty":1,"valueOf":2}';
    const { args, errors } = collectArguments(hostile, draftFromArguments(hostile, JSON.parse(text)));
    expect(errors).toEqual([]);
    expect(JSON.stringify(args)).toBe(text);
    expect(Object.getPrototypeOf(args)).toBe(Object.prototype);
    expect(collectArguments(hostile, createDraft(hostile)).errors.map(({ path }) => path)).toEqual([
      ['__proto__'],
      ['hasOwnProperty'],
    ]);
  });

  test('find the variant that takes them', () => {
    const shapes = parseForm({
      properties: {
        shape: {
          oneOf: [
            {
              type: 'object',
              properties: { kind: { const: 'circle' }, r: { type: 'number' } },
              required: ['kind', 'r'],
            },
            {
              type: 'object',
              properties: { kind: { const: 'box' }, w: { type: 'number' } },
              required: ['kind', 'w'],
            },
            { type: 'string' },
          ],
        },
      },
    });
    for (const [shape, index] of [
      [{ kind: 'circle', r: 1 }, 0],
      [{ kind: 'box', w: 2 }, 1],
      ['a line', 2],
    ] as const) {
      const draft = draftFromArguments(shapes, { shape });
      expect(draft.kind === 'object' && draft.fields[0]).toMatchObject({ kind: 'variants', index });
      expect(collectArguments(shapes, draft)).toMatchObject({ args: { shape }, errors: [] });
    }
    expect(collectArguments(shapes, draftFromArguments(shapes, { shape: 5 })).args).toEqual({ shape: 5 });
    expect(collectArguments(shapes, createDraft(shapes)).args).toEqual({});
  });
});

describe('what is wrong with a form', () => {
  const filled = (args: Record<string, unknown>) =>
    draftFromArguments(form, { city: 'Bern', alerts: true, ...args });

  test('is said at its field', () => {
    expect(messages(filled({ city: 'B', days: 15, tags: ['a', 'a', 'b'] }))).toEqual([
      ['city', 'Enter at least 2 characters.'],
      ['days', 'Enter 14 or less.'],
      ['tags', 'Keep at most 2 items.'],
      ['tags', 'Remove duplicate items.'],
    ]);
    expect(messages(filled({ place: { lon: 1 } }))).toEqual([['place.lat', 'Enter a value.']]);
  });

  test('is said of what is no number, or none that fits', () => {
    for (const [text, message] of [
      ['12a', 'Enter a number.'],
      ['0x10', 'Enter a number.'],
      ['1e999', 'Enter a number.'],
      ['Infinity', 'Enter a number.'],
      ['1.5', 'Enter a whole number.'],
      ['12345678901234567890', 'This number has too many digits to be sent exactly.'],
      ['0', 'Enter 1 or more.'],
    ] as const) {
      const draft = filled({});
      if (draft.kind !== 'object') throw new Error('no object');
      const fields = draft.fields.with(1, { kind: 'text', text });
      expect(messages({ ...draft, fields })).toEqual([['days', message]]);
      expect(collectArguments(form, { ...draft, fields }).args).toMatchObject({ days: text });
    }
  });

  test('counts characters, steps and limits as the schema means them', () => {
    const of = (one: Record<string, unknown>, text: string) => {
      const single = parseForm({ properties: { v: one } });
      return messages({ kind: 'object', fields: [{ kind: 'text', text }], extras: [] }, single).map(
        ([, said]) => said,
      );
    };
    expect(of({ type: 'string', maxLength: 2 }, '😀😀')).toEqual([]);
    expect(of({ type: 'string', maxLength: 2 }, '😀😀😀')).toEqual(['Enter at most 2 characters.']);
    expect(of({ type: 'number', multipleOf: 0.1 }, '0.3')).toEqual([]);
    expect(of({ type: 'number', multipleOf: 0.1 }, '0.35')).toEqual(['Enter a multiple of 0.1.']);
    expect(of({ type: 'number', exclusiveMinimum: 0 }, '0')).toEqual(['Enter more than 0.']);
    expect(of({ type: 'number', exclusiveMaximum: 1 }, ' 1 ')).toEqual(['Enter less than 1.']);
    expect(of({ type: 'number', multipleOf: 0 }, '7')).toEqual([]);
    expect(of({ enum: Array.from({ length: 999 }, (_, index) => `v${index}`) }, 'v1000')).toEqual([
      'Choose one of the allowed values.',
    ]);
  });

  test('is said about names and JSON', () => {
    const draft: Draft = {
      kind: 'object',
      fields: [],
      extras: [
        { id: 1, name: '', draft: { kind: 'json', text: '1' } },
        { id: 2, name: 'a', draft: { kind: 'json', text: '{' } },
        { id: 3, name: 'a', draft: { kind: 'json', text: '' } },
      ],
    };
    expect(messages(draft, parseForm({ properties: {}, type: 'object' }))).toEqual([
      ['', 'Enter a name.'],
      ['a', 'Enter valid JSON. Check quotes, commas and brackets.'],
      ['a', 'This name is already used.'],
      ['a', 'Enter a value.'],
    ]);
    const typed = parseForm({ properties: { o: { type: 'object' } } });
    expect(messages({ kind: 'object', fields: [{ kind: 'json', text: '[]' }], extras: [] }, typed)).toEqual([
      ['o', 'Enter a value of type object.'],
    ]);
    const whole = parseForm({ not: {} });
    expect(messages({ kind: 'json', text: '[1]' }, whole)).toEqual([['', 'Enter a JSON object, in braces.']]);
  });

  test('does not ask patterns', () => {
    const evil = parseForm({ properties: { v: { type: 'string', pattern: '^(a+)+$' } }, required: ['v'] });
    // Tried here, it would not come to an end.
    expect(messages(draftFromArguments(evil, { v: `${'a'.repeat(50)}!` }), evil)).toEqual([]);
  });
});

describe('something added', () => {
  test('has what it needs from the start', () => {
    const place = parseNode(schema, schema.properties.place);
    expect(createNewDraft(schema, place, 1)).toEqual({
      kind: 'object',
      fields: [
        { kind: 'text', text: '' },
        { kind: 'text', text: '' },
      ],
      extras: [],
    });
    expect(createNewDraft(schema, parseNode(schema, schema.properties.tags), 1)).toEqual({
      kind: 'list',
      items: [],
    });
  });
});
