import { createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createArgumentValidator } from '../arguments.ts';
import { createCompileTimeBudget, createSchemaCache } from './schemaCache.ts';

const schema = (name: string) => ({ required: [name] });
const broken = (name: string) => ({ type: 'text', description: name });

function rig(limits = { maxSchemas: 10, maxPerServer: 4 }) {
  let compiled = 0;
  const schemas = createSchemaCache(
    {
      hasTime: () => true,
      // The first of two is the hash, which a schema of another list costs as well.
      meterFor: () => {
        let works = 0;
        return (work) => {
          works += 1;
          if (works === 2) compiled += 1;
          return work();
        };
      },
      shouldLog: () => true,
    },
    limits,
  );
  return { schemas, compiled: () => compiled };
}

/** A clock that work moves. */
function slowCompiler() {
  const clock = createFakeClock();
  let now = 0;
  const time = createCompileTimeBudget({ ...clock, now: () => now });
  const spend = (server: string, ms: number) => time.meterFor(server)(() => void (now += ms));
  return { time, spend, pass: (ms: number) => (now += ms) };
}

describe('compiled schemas', () => {
  test('one server with ever new schemas takes nothing from another', () => {
    const { schemas, compiled } = rig();
    const mine = schema('mine');
    schemas.find('quiet', mine);
    for (let i = 0; i < 50; i += 1) schemas.find('busy', schema(`s${i}`));
    for (let i = 0; i < 5; i += 1) schemas.find(`other${i}`, schema('x'));
    const before = compiled();
    expect(schemas.find('quiet', mine)?.state).toBeDefined();
    expect(compiled()).toBe(before);
    // Where there is room for all, each has its share of it.
    const roomy = rig({ maxSchemas: 100, maxPerServer: 4 });
    const find = (i: number) => void roomy.schemas.find('busy', schema(`s${i}`));
    for (let i = 0; i < 10; i += 1) find(i);
    for (const i of [9, 8, 7, 6]) find(i);
    expect(roomy.compiled()).toBe(10);
    find(5);
    expect(roomy.compiled()).toBe(11);
  });

  test('equal schemas of several servers are compiled once, and go with the last of them', () => {
    const { schemas, compiled } = rig({ maxSchemas: 100, maxPerServer: 4 });
    const find = (server: string, name: string) => schemas.find(server, schema(name));
    const crowdOut = (server: string) => {
      for (let i = 0; i < 4; i += 1) find(server, `${server}${i}`);
    };
    const one = find('one', 'same');
    const two = find('two', 'same');
    expect(one?.state).toBeInstanceOf(Object);
    expect(two?.state).toBe(one?.state);
    expect(compiled()).toBe(1);
    // What became of it at one server is nothing to the other.
    for (let i = 0; i < 3; i += 1) schemas.recordCostlyCheck(find('three', 'same')!);
    crowdOut('one');
    expect([one?.state, typeof two?.state]).toEqual([undefined, 'object']);
    const before = compiled();
    expect(find('two', 'same')).toBe(two);
    expect(find('one', 'same')?.state).toBe(two?.state);
    expect(compiled()).toBe(before);
    for (const server of ['one', 'two']) crowdOut(server);
    const after = compiled();
    find('two', 'same');
    expect(compiled()).toBe(after + 1);
  });

  test('what cannot be checked is remembered, and takes no room', () => {
    const { schemas, compiled } = rig();
    const good = schema('good');
    schemas.find('s', good);
    for (let i = 0; i < 50; i += 1) schemas.find('s', broken(`b${i}`));
    const before = compiled();
    schemas.find('s', good);
    // An equal one of another list.
    for (let i = 0; i < 50; i += 1) expect(schemas.find('s', broken(`b${i}`))?.state).toBe('not_a_schema');
    expect(compiled()).toBe(before);
    // One that cost too much is remembered as well, whatever is compiled after it.
    const costly = schemas.find('s', schema('costly'))!;
    for (let i = 0; i < 3; i += 1) schemas.recordCostlyCheck(costly);
    for (let i = 0; i < 50; i += 1) schemas.find('s', schema(`n${i}`));
    expect(schemas.find('s', schema('costly'))?.state).toBe('too_costly');
  });

  test('a server that used up its time waits for the next minute', () => {
    const { time, spend, pass } = slowCompiler();
    spend('greedy', 999);
    spend('greedy', 500);
    expect(() => spend('greedy', 1)).toThrow('compiler_busy');
    expect([time.hasTime('greedy'), time.hasTime('other')]).toEqual([false, true]);
    expect([time.shouldLog('greedy'), time.shouldLog('greedy')]).toEqual([true, false]);
    pass(59_000);
    expect(time.hasTime('greedy')).toBe(true);
    spend('greedy', 1_000);
    expect(time.shouldLog('greedy')).toBe(true);
    // A clock that is set back ends the window.
    pass(-90_000);
    expect(time.hasTime('greedy')).toBe(true);
  });

  test('many servers together have an end as well', () => {
    const { time, spend } = slowCompiler();
    for (let i = 0; i < 10; i += 1) spend(`s${i}`, 1_000);
    expect(time.hasTime('s11')).toBe(false);
  });

  test('meanwhile new schemas are not checked, and known ones are', () => {
    const clock = createFakeClock();
    let now = 0;
    const logged: object[] = [];
    // Every look at the clock finds it 150 ms later.
    const slow = { ...clock, now: () => (now += 150) };
    const checker = createArgumentValidator({ clock: slow, log: (_event, fields) => logged.push(fields) });
    const check = (toolName: string, of: object) =>
      checker.validate({ serverId: 's', toolName }, of as Record<string, unknown>, {});
    const known = schema('known');
    expect(check('known', known)).toHaveLength(1);
    const answers = Array.from({ length: 9 }, (_, i) => check(`t${i}`, schema(`t${i}`)));
    expect(answers.at(-1)).toBeNull();
    expect(check('known', known)).toHaveLength(1);
    expect(logged).toEqual([{ server: 's', tool: expect.any(String), reason: 'compiler_busy' }]);
    now += 60_000;
    expect(check('t8', schema('t8'))).toHaveLength(1);
  });
});
