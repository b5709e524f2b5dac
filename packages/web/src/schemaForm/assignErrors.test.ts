import { describe, expect, test } from '@jest/globals';
import { draftFromArguments } from './createDraft.ts';
import { assignErrors, parsePath, pathKey } from './fieldPath.ts';
import { collectArguments } from './collectArguments.ts';
import { parseForm } from './parseNode.ts';

describe('a path of the gateway', () => {
  test('is read as the gateway writes it', () => {
    expect(parsePath('arguments')).toEqual([]);
    expect(parsePath('arguments.b')).toEqual(['b']);
    expect(parsePath('arguments.items[0].name')).toEqual(['items', '0', 'name']);
    expect(parsePath('arguments["we ird"]["a\\"b"][12]')).toEqual(['we ird', 'a"b', '12']);
    expect(parsePath('arguments.$a-b_c')).toEqual(['$a-b_c']);
    const strange = [
      '',
      'config.url',
      'arguments..a',
      'arguments[',
      'arguments["a',
      'arguments a',
      'argumentsX',
    ];
    for (const text of strange) expect(parsePath(text)).toBeUndefined();
  });

  test('is one place, whether a number or a name', () => {
    expect(pathKey(['a', 0])).toBe(pathKey(['a', '0']));
    expect(pathKey(['a', 'b'])).not.toBe(pathKey(['a.b']));
  });
});

describe('what the gateway found wrong', () => {
  const form = parseForm({
    properties: {
      a: { type: 'string' },
      items: { type: 'array', items: { properties: { name: { type: 'string' } } } },
      any: {},
    },
  });
  const draft = draftFromArguments(form, { a: 'x', items: [{ name: 'y' }], any: { deep: [1] } });
  const { formFields } = collectArguments(form, draft);
  const error = (path: string, rest: string, suggestion?: string) => ({
    ...{ path, code: 'invalid', message: `${path} ${rest}` },
    ...(suggestion !== undefined && { suggestion }),
  });

  test('stands at the field it is about', () => {
    const { byField, otherErrors } = assignErrors(formFields, [
      error('arguments.a', 'must match the pattern ^b$.'),
      error('arguments.a', 'must be short.', 'did you mean "b"?'),
      error('arguments.items[0].name', 'is required.'),
    ]);
    expect(otherErrors).toEqual([]);
    expect([...byField]).toEqual([
      [pathKey(['a']), 'This value must match the pattern ^b$. This value must be short. Did you mean "b"?'],
      [pathKey(['items', 0, 'name']), 'This value is required.'],
    ]);
  });

  test('stands at the JSON that holds it', () => {
    const { byField } = assignErrors(formFields, [error('arguments.any.deep[0]', 'must be string.')]);
    expect([...byField]).toEqual([[pathKey(['any']), 'arguments.any.deep[0] must be string.']]);
  });

  test('stands at the top where the form has no place for it', () => {
    const { byField, otherErrors } = assignErrors(formFields, [
      error('arguments', 'fits none of its forms.'),
      error('arguments.b', 'is not a field of this tool.', 'did you mean "a"?'),
      error('arguments.items[7].name', 'is required.'),
      { path: '', code: 'x', message: 'Something else.' },
    ]);
    expect(byField.size).toBe(0);
    expect(otherErrors).toEqual([
      'arguments fits none of its forms.',
      'arguments.b is not a field of this tool. Did you mean "a"?',
      'arguments.items[7].name is required.',
      'Something else.',
    ]);
  });
});
