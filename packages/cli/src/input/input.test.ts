import { describe, expect, test } from '@jest/globals';
import { CliError } from '../cliError.ts';
import { parseArgumentPairs } from './readArguments.ts';
import { parseTokenInput } from '../commands/tokens.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string', description: 'What to say\nat length' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    loud: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'integer' } },
    more: { type: 'object' },
    any: {},
    mode: { enum: ['1', '2'] },
    maybe: { type: ['integer', 'null'] },
  },
  required: ['text', 'count'],
};

function read(...args: string[]) {
  return parseArgumentPairs(schema, args, {});
}

describe('inputs of a tool', () => {
  test('are read as the tool declares them', () => {
    expect(
      read(
        ...[
          'text=a=b',
          'count=-5',
          'ratio=1.5',
          'loud=true',
          'tags=1',
          'tags=2',
          'more={"a":[1]}',
          'any={"b":2}',
        ],
        ...['mode=1', 'maybe=3', 'extra=x'],
      ),
    ).toEqual({
      ok: true,
      args: {
        ...{ text: 'a=b', count: -5, ratio: 1.5, loud: true, tags: [1, 2], more: { a: [1] }, any: { b: 2 } },
        ...{ mode: '1', maybe: 3, extra: 'x' },
      },
    });
    expect(read('text=1', 'count=1', 'tags=[3,4]', 'any=plain')).toMatchObject({
      args: { text: '1', tags: [3, 4], any: 'plain' },
    });
    expect(read('text=', 'count=1')).toMatchObject({ ok: true, args: { text: '' } });
    expect(parseArgumentPairs(schema, ['count=2'], { text: 'base', count: 1 })).toEqual({
      ok: true,
      args: { text: 'base', count: 2 },
    });
  });

  test('that are missing or wrong are named together', () => {
    expect(read('cuont=1', 'ratio=x', 'loud=yes', 'more=[1]', 'tags=x', 'broken')).toEqual({
      ok: false,
      problems: [
        '--arg number 6 is not NAME=VALUE',
        'ratio is not of type number',
        'loud is not of type boolean',
        'more is not of type object',
        'tags has an entry that is not of type integer',
        'cuont is not an input of the tool; did you mean "count"?',
        'text is missing (string): What to say',
        'count is missing (integer)',
      ],
    });
    expect(read('text=a', 'text=b', 'count=1')).toMatchObject({
      problems: ['text is given more than once'],
    });
    expect(read('text=a', 'count=1.5')).toMatchObject({ ok: false });
    expect(read('text=a', 'count=')).toMatchObject({ ok: false });
    const strict = { ...schema, additionalProperties: false };
    expect(parseArgumentPairs(strict, ['text=a', 'count=1', 'unheardof=1'], {})).toMatchObject({
      problems: ['unheardof is not an input of the tool'],
    });
  });

  test('with names of the language itself are inputs like others', () => {
    const read = parseArgumentPairs({ type: 'object' }, ['__proto__=1', 'constructor=x'], {});
    expect(read.ok && Object.entries(read.args)).toEqual([
      ['__proto__', 1],
      ['constructor', 'x'],
    ]);
    expect(parseArgumentPairs({ required: ['toString'] }, [], {})).toMatchObject({
      problems: ['toString is missing'],
    });
  });
});

describe('a token on standard input', () => {
  test('stands there alone or as an authorization server gives it', () => {
    expect(parseTokenInput(' abc.def \n')).toEqual({ accessToken: 'abc.def' });
    expect(
      parseTokenInput(
        '{"access_token":"a","refresh_token":"r","expires_in":"60","scope":"x y","token_type":"Bearer"}',
      ),
    ).toEqual({ accessToken: 'a', refreshToken: 'r', expiresIn: 60, scope: 'x y' });
    expect(parseTokenInput('{"accessToken":"a","issuer":"https://i","clientId":"c"}')).toEqual({
      ...{ accessToken: 'a', issuer: 'https://i', clientId: 'c' },
    });
  });

  test('is not repeated where it is wrong', () => {
    for (const text of ['', 'pl4nted pl4nted', '{"pl4nted', '{"refresh_token":"pl4nted"}']) {
      const wrong = () => parseTokenInput(text);
      expect(wrong).toThrow(CliError);
      try {
        wrong();
      } catch (error) {
        expect(JSON.stringify([(error as CliError).message, (error as CliError).detail])).not.toContain(
          'pl4nted',
        );
      }
    }
  });
});
