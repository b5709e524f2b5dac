import { describe, expect, test } from '@jest/globals';
import { createDraft, draftFromArguments } from './createDraft.ts';
import type { Draft } from './formNode.ts';
import { collectArguments } from './collectArguments.ts';
import { parseForm } from './parseNode.ts';

/** It takes milliseconds; a machine that does other things as well may take a while. What hangs takes for ever. */
const MAX_MS = 5_000;

function fillOut(schema: unknown): Draft {
  const started = performance.now();
  const form = parseForm(schema);
  const draft = createDraft(form);
  collectArguments(form, draft);
  collectArguments(form, draftFromArguments(form, { a: { a: { a: 1 } } }));
  expect(performance.now() - started).toBeLessThan(MAX_MS);
  return draft;
}

const size = (draft: Draft): number => {
  if (draft.kind === 'object') return 1 + draft.fields.reduce((sum, field) => sum + size(field), 0);
  if (draft.kind === 'list') return 1 + draft.items.reduce((sum, item) => sum + size(item.draft), 0);
  return draft.kind === 'variants' ? 1 + size(draft.draft) : 1;
};

describe('a schema that means harm', () => {
  test('one that contains itself has an end', () => {
    const tree = {
      $ref: '#/$defs/node',
      $defs: { node: { properties: { a: { $ref: '#/$defs/node' } }, required: ['a'] } },
    };
    expect(size(fillOut(tree))).toBeLessThan(50);
    const optional = {
      $ref: '#/$defs/n',
      $defs: { n: { properties: { a: { $ref: '#/$defs/n' }, b: { type: 'string' } } } },
    };
    expect(fillOut(optional)).toMatchObject({ fields: [{ kind: 'absent' }, { kind: 'text' }] });
    const lists = {
      $ref: '#/$defs/n',
      $defs: { n: { type: 'array', minItems: 5, items: { $ref: '#/$defs/n' } } },
    };
    expect(size(fillOut({ properties: { a: lists }, $defs: lists.$defs, required: ['a'] }))).toBeLessThan(
      2_000,
    );
    for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
      fillOut({
        properties: { a: { $ref: '#/$defs/x' } },
        required: ['a'],
        $defs: { x: { [keyword]: [{ $ref: '#/$defs/x' }] } },
      });
      const two = [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/y' }];
      const pair = { x: { [keyword]: two }, y: { [keyword]: two } };
      fillOut({ properties: { a: { $ref: '#/$defs/x' } }, required: ['a'], $defs: pair });
    }
    fillOut({ $ref: '#' });
    fillOut({ allOf: [{ $ref: '#' }] });
    fillOut({ properties: { a: { $ref: '#' } }, required: ['a'] });
  });

  test('one that multiplies by references stays small', () => {
    const $defs: Record<string, unknown> = {};
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/$defs/l${level + 1}` };
      $defs[`l${level}`] = { properties: { a: next, b: next, c: next }, required: ['a', 'b', 'c'] };
    }
    expect(size(fillOut({ $ref: '#/$defs/l0', $defs }))).toBeLessThan(5_000);
    const many = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `v${index}`,
        { allOf: Array.from({ length: 40 }, () => ({ $ref: '#/$defs/x' })) },
      ]),
    );
    fillOut({
      properties: many,
      $defs: { x: { allOf: [{ $ref: '#/$defs/y' }, { $ref: '#/$defs/y' }] }, y: { minimum: 1 } },
    });
  });

  test('ten thousand members, options or variants do not hold up the page', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `p${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', default: 'x' }]));
    expect(fillOut({ properties, required: names })).toEqual({ kind: 'json', text: '' });
    expect(fillOut({ required: names })).toEqual({ kind: 'json', text: '' });
    fillOut({ properties: { a: { enum: names } }, required: ['a'] });
    fillOut({
      properties: { a: { anyOf: names.map((title) => ({ type: 'object', title })) } },
      required: ['a'],
    });
    fillOut({ properties: { a: { allOf: names.map((title) => ({ title })) } }, required: ['a'] });
    fillOut({ properties: { a: { type: 'array', items: {}, minItems: 1e9 } }, required: ['a'] });
    fillOut({ properties: { a: { type: 'object', default: properties } } });
  });

  test('depth does not break it', () => {
    const depth = 20_000;
    const nest = (open: string, close: string) =>
      JSON.parse(`${open.repeat(depth)}{}${close.repeat(depth)}`) as unknown;
    fillOut(nest('{"required":["a"],"properties":{"a":', '}}'));
    fillOut(nest('{"allOf":[', ']}'));
    fillOut(nest('{"anyOf":[', ']}'));
    fillOut(nest('{"type":"array","minItems":1,"items":', '}'));
    fillOut({ properties: { a: { default: nest('[', ']') } } });
    fillOut({
      properties: { a: { enum: [nest('[', ']')] }, b: { const: nest('{"a":', '}') } },
      required: ['a', 'b'],
    });
    fillOut({ properties: { a: { $ref: `#${'/a'.repeat(depth)}` } }, required: ['a'] });
  });

  test('values of the wrong kind are taken for nothing', () => {
    const wrong = [null, 1, 'x', true, [], {}, [null], { a: null }];
    const keywords = [
      'type',
      'properties',
      'required',
      'items',
      'enum',
      'anyOf',
      'oneOf',
      'allOf',
      '$ref',
      '$defs',
      'default',
      'minItems',
      'maxLength',
      'minimum',
      'additionalProperties',
      'title',
      'const',
      'multipleOf',
      'format',
      'enumNames',
    ];
    for (const keyword of keywords) {
      for (const value of wrong) {
        fillOut({ [keyword]: value });
        fillOut({
          properties: { a: { type: 'string', [keyword]: value }, b: { [keyword]: value } },
          required: ['a', 'b'],
        });
      }
    }
  });
});
