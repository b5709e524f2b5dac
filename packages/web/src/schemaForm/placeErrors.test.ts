import { describe, expect, test } from '@jest/globals';
import { draftOf } from './createDraft.ts';
import { pathKey, readPath } from './fieldPath.ts';
import { placeErrors } from './placeErrors.ts';
import { readArguments } from './readArguments.ts';
import { readForm } from './readForm.ts';

describe('a path of the gateway', () => {
  test('is read as the gateway writes it', () => {
    expect(readPath('arguments')).toEqual([]);
    expect(readPath('arguments.b')).toEqual(['b']);
    expect(readPath('arguments.items[0].name')).toEqual(['items', '0', 'name']);
    expect(readPath('arguments["we ird"]["a\\"b"][12]')).toEqual(['we ird', 'a"b', '12']);
    expect(readPath('arguments.$a-b_c')).toEqual(['$a-b_c']);
    const strange = [
      '',
      'config.url',
      'arguments..a',
      'arguments[',
      'arguments["a',
      'arguments a',
      'argumentsX',
    ];
    for (const text of strange) expect(readPath(text)).toBeUndefined();
  });

  test('is one place, whether a number or a name', () => {
    expect(pathKey(['a', 0])).toBe(pathKey(['a', '0']));
    expect(pathKey(['a', 'b'])).not.toBe(pathKey(['a.b']));
  });
});

describe('what the gateway found wrong', () => {
  const form = readForm({
    properties: {
      a: { type: 'string' },
      items: { type: 'array', items: { properties: { name: { type: 'string' } } } },
      any: {},
    },
  });
  const draft = draftOf(form, { a: 'x', items: [{ name: 'y' }], any: { deep: [1] } });
  const { places } = readArguments(form, draft);
  const error = (path: string, rest: string, suggestion?: string) => ({
    ...{ path, code: 'invalid', message: `${path} ${rest}` },
    ...(suggestion !== undefined && { suggestion }),
  });

  test('stands at the field it is about', () => {
    const { fields, others } = placeErrors(places, [
      error('arguments.a', 'must match the pattern ^b$.'),
      error('arguments.a', 'must be short.', 'did you mean "b"?'),
      error('arguments.items[0].name', 'is required.'),
    ]);
    expect(others).toEqual([]);
    expect([...fields]).toEqual([
      [pathKey(['a']), 'This value must match the pattern ^b$. This value must be short. Did you mean "b"?'],
      [pathKey(['items', 0, 'name']), 'This value is required.'],
    ]);
  });

  test('stands at the JSON that holds it', () => {
    const { fields } = placeErrors(places, [error('arguments.any.deep[0]', 'must be string.')]);
    expect([...fields]).toEqual([[pathKey(['any']), 'arguments.any.deep[0] must be string.']]);
  });

  test('stands at the top where the form has no place for it', () => {
    const { fields, others } = placeErrors(places, [
      error('arguments', 'fits none of its forms.'),
      error('arguments.b', 'is not a field of this tool.', 'did you mean "a"?'),
      error('arguments.items[7].name', 'is required.'),
      { path: '', code: 'x', message: 'Something else.' },
    ]);
    expect(fields.size).toBe(0);
    expect(others).toEqual([
      'arguments fits none of its forms.',
      'arguments.b is not a field of this tool. Did you mean "a"?',
      'arguments.items[7].name is required.',
      'Something else.',
    ]);
  });
});
