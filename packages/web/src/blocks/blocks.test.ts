import type { BlockInputs, CheckedBlock, CredentialNeed, MissingParts } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { pathKey } from '../schemaForm/fieldPath.ts';
import { createInputsDraft, assignInputErrors, toDefaultInputs, parseInputs } from './edit/inputsDraft.ts';
import { runInputSchema, initialRunInputs, presetValues } from './run/runInputs.ts';
import { groupNeeds } from './run/groupNeeds.ts';
import { blockStatus, describeDrift, initialBlockStatus } from './blockStatus.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    times: { type: 'integer', default: 1 },
    flag: { type: 'boolean' },
    ['__proto__x']: { type: 'object', properties: { a: { type: 'string' } } },
  },
  required: ['text'],
};
const inputs: BlockInputs = {
  text: { mode: 'fixed', value: 'hello' },
  times: { mode: 'default', value: 3 },
  flag: { mode: 'ask' },
  other: { mode: 'fixed', value: [1, null] },
};

describe('the form of a run', () => {
  test('has no field for what is fixed, and begins with what is proposed', () => {
    const requestedSchema = runInputSchema(schema, inputs);
    expect(Object.keys(requestedSchema['properties'] as object)).toEqual(['times', 'flag', '__proto__x']);
    expect(requestedSchema['required']).toEqual([]);
    expect(initialRunInputs(requestedSchema, inputs)).toEqual({ times: 3 });
    expect(initialRunInputs(runInputSchema(schema, {}), {})).toEqual({ times: 1 });
  });

  test('says whole what the block brings by itself', () => {
    expect(presetValues(inputs, ['fixed'])).toEqual({ text: 'hello', other: [1, null] });
    expect(presetValues(inputs, ['fixed', 'default'])).toEqual({ text: 'hello', times: 3, other: [1, null] });
  });

  test('of a schema without single arguments is that of the tool', () => {
    for (const odd of [
      {},
      { type: 'object', additionalProperties: true },
      { properties: 7, required: 'x' },
    ]) {
      expect(runInputSchema(odd, inputs)).toEqual(odd);
    }
  });
});

describe('the inputs of a block', () => {
  test('come out as they went in, also those that the tool does not name', () => {
    const { inputs: read, errors } = parseInputs(createInputsDraft(schema, inputs));
    expect(read).toEqual({ ...inputs, ['__proto__x']: { mode: 'ask' } });
    expect(errors.size).toBe(0);
  });

  test('of a call by hand are proposed', () => {
    expect(toDefaultInputs({ text: 'a' })).toEqual({ text: { mode: 'default', value: 'a' } });
  });

  test('need a value wherever they are not asked for', () => {
    const started = createInputsDraft(schema, { text: { mode: 'ask' } });
    if (started.kind !== 'rows') throw new Error('no rows');
    const rows = started.rows.map((row) =>
      row.property.name === 'text' ? { ...row, mode: 'fixed' as const } : row,
    );
    const { errors } = parseInputs({ ...started, rows });
    expect([...errors.keys()]).toEqual([pathKey(['text'])]);
    // A switch that nobody touched says no.
    const flags = started.rows.map((row) =>
      row.property.name === 'flag' ? { ...row, mode: 'fixed' as const } : row,
    );
    expect(parseInputs({ ...started, rows: flags }).inputs['flag']).toEqual({ mode: 'fixed', value: false });
  });

  test('are JSON where the schema has no single arguments, and held to their shape', () => {
    const started = createInputsDraft({ type: 'object', additionalProperties: { type: 'string' } }, inputs);
    expect(started.kind).toBe('raw');
    expect(parseInputs(started).inputs).toEqual(inputs);
    for (const text of [
      '[]',
      '{"a": 1}',
      '{"a": {"mode": "fixed"}}',
      '{"a": {"mode": "ask", "value": 1}}',
      '{',
    ]) {
      expect([text, parseInputs({ kind: 'raw', text }).errors.size]).toEqual([text, 1]);
    }
  });

  test('that the gateway refuses are marked at their field', () => {
    const refused = [
      { path: 'inputs.times', code: 'type', message: 'inputs.times must be an integer' },
      { path: 'inputs.other', code: 'unknown_field', message: 'is not a field' },
    ];
    const { byField: fields, otherErrors: others } = assignInputErrors(
      createInputsDraft(schema, inputs),
      refused,
    );
    expect([...fields.keys()]).toEqual([pathKey(['times'])]);
    expect(others).toHaveLength(1);
  });
});

describe('how a block stands', () => {
  const need = (kind: CredentialNeed['kind'], server: string, blocks: string[]): CredentialNeed => {
    const about = { server, title: server.toUpperCase(), connectUrl: `/servers/${server}`, blocks };
    if (kind === 'sign_in') return { kind, ...about, reason: 'absent' };
    return kind === 'values' ? { kind, ...about, values: [] } : { kind, ...about, choices: [] };
  };
  const missing = (...needs: CredentialNeed[]): MissingParts => ({
    inputs: [],
    credentials: needs.length > 0 ? [{ needs }] : [],
  });
  const checkedBlock = (state: CheckedBlock['state']): CheckedBlock => ({ id: 'a', state, runs: false });

  test('is what it waits for; inputs that a run brings are no trouble', () => {
    expect(blockStatus(checkedBlock('incomplete'), missing())).toBe('asks');
    expect(blockStatus(checkedBlock('incomplete'), missing(need('values', 's', ['a'])))).toBe('values');
    expect(blockStatus(checkedBlock('incomplete'), missing(need('choose', 's', ['a'])))).toBe('choose');
    const both = missing(need('values', 's', ['a']), need('sign_in', 's', ['a']));
    expect(blockStatus(checkedBlock('incomplete'), both)).toBe('sign_in');
    // What another block waits for is not its own trouble.
    expect(blockStatus(checkedBlock('incomplete'), missing(need('sign_in', 's', ['b'])))).toBe('asks');
    expect(blockStatus(checkedBlock('server_gone'), missing())).toBe('server_gone');
    expect(initialBlockStatus({ server: { name: 's', state: 'gone' } })).toBe('server_gone');
    expect(initialBlockStatus({ server: { name: 's', state: 'no_access' } })).toBe('no_access');
    expect(initialBlockStatus({ server: { name: 's', state: 'available' } })).toBe('checking');
  });

  test('names what the tool changed, and nothing that it did not', () => {
    const none = { added: [], removed: [], changed: [], required: [], optional: [], other: false };
    const text = describeDrift({
      input: { ...none, added: ['b', 'c'], required: ['c'] },
      output: { ...none, other: true },
    });
    expect(text.map(({ changes }) => changes.length)).toEqual([2, 1]);
    expect(text[0]?.changes[0]).toContain('b, c');
    expect(describeDrift({})).toEqual([]);
  });

  test('stands with its inputs at the server of their block, in one order', () => {
    const all: MissingParts = {
      inputs: [
        { block: 'c', name: 'z' },
        { block: 'a', name: 'x' },
      ],
      credentials: [
        {
          address: 'https://one.test/',
          needs: [need('sign_in', 'one', ['a']), need('values', 'uno', ['b'])],
        },
        { needs: [need('choose', 'two', ['d'])] },
      ],
    };
    const servers: Record<string, string> = { a: 'one', b: 'uno', c: 'far', d: 'two' };
    const groups = groupNeeds(all, (block) => servers[block] ?? '');
    expect(
      groups.map(({ titles, inputs: missingInputs, needs }) => [
        titles,
        missingInputs.map(({ name }) => name),
        needs.length,
      ]),
    ).toEqual([
      [['ONE', 'UNO'], ['x'], 2],
      [['TWO'], [], 1],
      [['far'], ['z'], 0],
    ]);
  });
});
