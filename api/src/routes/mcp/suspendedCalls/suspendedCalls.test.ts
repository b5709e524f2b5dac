import { GatewayError, type Inbound, type JsonObject } from '@behalf/gateway';
import { type Cancellation, createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { type McpRequest, createMcpInbound, toClientFault } from '../request.ts';
import type { SuspendedCallRef } from '../requestState.ts';
import { createResultJson } from '../results.ts';
import { createMailbox } from '../relay/mailbox.ts';
import { type SuspendedCallLimits, createSuspendedCalls } from './suspendedCalls.ts';

const ada = aPrincipal({ userId: 'u-ada' });
const bob = aPrincipal({ userId: 'u-bob' });
const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const accepted = { action: 'accept', content: {} };
const MINUTES = 60_000;

function rig(limits?: SuspendedCallLimits) {
  const clock = createFakeClock();
  const random = systemRandom;
  const store = openMemoryStore({ clock, random });
  const cache = store.cache('mcp');
  const keyring = createKeyring([Buffer.alloc(32, 1)], random);
  const replica = (name: string) => {
    const mailbox = createMailbox({ cache, changes: store.changes, keyring, clock });
    const suspendedCalls = createSuspendedCalls({
      ...{ cache, mailbox, clock, random, replica: name, results: createResultJson({} as never) },
      ...(limits && { limits }),
      toRpcFault: (error, request) =>
        toClientFault(error, request, () => ({ problem: { code: 'INTERNAL', detail: '' } }) as never),
    });
    return { suspendedCalls, stop: () => mailbox.close() };
  };
  return { clock, cache, here: replica('here'), there: replica('there') };
}

type Rig = ReturnType<typeof rig>;

function request(params: JsonObject = {}, caller = ada, abortController = new AbortController()): McpRequest {
  return {
    ...{
      caller,
      params,
      endpoint: { kind: 'all', search: false },
      era: 'modern',
      version: '2026-07-28',
      id: 1,
    },
    ...{ method: 'tools/call', capabilities: { elicitation: {} }, logLevel: undefined, session: undefined },
    ...{ signal: abortController.signal, reply: {} as never, headers: {} },
  };
}

const answers = (inputResponses: JsonObject) => request({ inputResponses });

type Work = (inbound: Inbound, ask: (params?: JsonObject) => Promise<JsonObject>) => Promise<string>;

/** Begins a call; what comes back is read, and the state in it is not sealed here. */
async function begin(all: Rig, work: Work, pending = request()) {
  return readInputRequired(await run(all, work, pending));
}

async function run({ here, clock }: Rig, work: Work, pending = request()): Promise<string> {
  const running = here.suspendedCalls.begin(
    pending,
    createMcpInbound(pending, 'r'),
    (state) => JSON.stringify(state),
    (inbound) =>
      work(inbound, (params = form) =>
        inbound.peer!.sendRequest!('elicitation/create', params, inbound.signal),
      ),
  );
  return soon(clock, running);
}

/** Questions are gathered for a moment before they are told. */
async function soon<T>(clock: Rig['clock'], running: Promise<T>): Promise<T> {
  running.catch(() => undefined);
  await clock.advance(100);
  return running;
}

function readInputRequired(text: string): { questions: JsonObject; suspended: SuspendedCallRef } {
  const { inputRequests = {}, requestState = '{}' } = JSON.parse(text) as Record<string, string & JsonObject>;
  return {
    questions: inputRequests,
    suspended: (JSON.parse(requestState) as { suspendedCall: SuspendedCallRef }).suspendedCall,
  };
}

const badState = { name: 'RpcFault', code: -32602 };
const forEver = () => new Promise<never>(() => undefined);

describe('a call that waits for its user', () => {
  test('is ended after ten minutes, and its state opens nothing', async () => {
    for (const at of ['here', 'there'] as const) {
      const all = rig();
      let signal: Cancellation | undefined;
      const { suspended } = await begin(all, async (inbound, ask) => {
        ({ signal } = inbound);
        return JSON.stringify(await ask());
      });
      await all.clock.advance(10 * MINUTES - 100);
      expect(signal?.aborted).toBe(false);
      await all.clock.advance(100);
      expect(signal?.aborted).toBe(true);
      await expect(all[at].suspendedCalls.resume(answers({ q1: accepted }), suspended)).rejects.toMatchObject(
        badState,
      );
    }
  });

  test('also where the store still has it', async () => {
    const all = rig();
    const { suspended } = await begin(all, async (_, ask) => JSON.stringify(await ask()));
    await all.clock.advance(11 * MINUTES);
    await all.cache.set(`resume-ticket:${suspended.call}:1`, 'here', MINUTES);
    await expect(all.there.suspendedCalls.resume(answers({ q1: accepted }), suspended)).rejects.toMatchObject(
      badState,
    );
  });

  test('has no place when its user has sixteen, and others have', async () => {
    const all = rig();
    const ask: Work = async (_, asks) => asks().then(JSON.stringify, () => 'nobody');
    const first = await begin(all, ask);
    for (let more = 1; more < 16; more += 1) await begin(all, ask);
    expect(await run(all, ask)).toBe('nobody');
    expect(await run(all, ask, request({}, bob))).toContain('input_required');
    expect(await all.here.suspendedCalls.resume(answers({ q1: accepted }), first.suspended)).toBe(
      JSON.stringify(accepted),
    );
    expect(await run(all, ask)).toContain('input_required');
  });

  test('nor when there are too many of all users', async () => {
    const all = rig({ maxPerUser: 8, maxTotal: 1, maxBytes: 1_000, ttlMs: MINUTES });
    await begin(all, async (_, ask) => JSON.stringify(await ask()));
    const ask: Work = async (_, asks) => asks().then(JSON.stringify, () => 'nobody');
    expect(await run(all, ask, request({}, bob))).toBe('nobody');
  });

  test('nor when too much would be kept of what they were asked with', async () => {
    const all = rig({ maxPerUser: 8, maxTotal: 8, maxBytes: 1_000, ttlMs: MINUTES });
    const ask: Work = async (_, asks) => asks().then(JSON.stringify, () => 'nobody');
    const long = () => request({ arguments: 'x'.repeat(600) });
    const { suspended } = await begin(all, ask, long());
    expect(await run(all, ask, long())).toBe('nobody');
    await all.here.suspendedCalls.resume(answers({ q1: accepted }), suspended);
    expect(await run(all, ask, long())).toContain('input_required');
  });

  test('keeps few questions and no long result while nobody is there', async () => {
    const all = rig();
    const refused: unknown[] = [];
    const { suspended } = await begin(all, async (_, ask) => {
      await Promise.race([ask(), forEverLater(all)]).catch(() => undefined);
      await ask({ ...form, message: 'x'.repeat(70_000) }).catch((error: unknown) => refused.push(error));
      return 'x'.repeat(300_000);
    });
    await all.clock.advance(MINUTES);
    expect(refused).toHaveLength(1);
    await expect(all.here.suspendedCalls.resume(answers({ q1: accepted }), suspended)).rejects.toMatchObject({
      code: 'MCP_RESPONSE_TOO_LARGE',
    });
  });

  /** The server goes on by itself. */
  const forEverLater = ({ clock }: Rig) =>
    new Promise<never>((_, reject) => void clock.timer(1_000, () => reject(new Error('The server went on'))));

  test('is told several questions at once, and later ones in the next round', async () => {
    const all = rig();
    const first = await begin(all, async (_, ask) =>
      JSON.stringify([...(await Promise.all([ask(), ask()])), await ask()]),
    );
    expect(Object.keys(first.questions)).toEqual(['q1', 'q2']);
    const responses = answers({ q1: { n: 1 }, q2: { n: 2 } });
    const second = readInputRequired(
      await soon(all.clock, all.here.suspendedCalls.resume(responses, first.suspended)),
    );
    expect(Object.keys(second.questions)).toEqual(['q3']);
    expect(await all.there.suspendedCalls.resume(answers({ q3: { n: 3 } }), second.suspended)).toBe(
      '[{"n":1},{"n":2},{"n":3}]',
    );
  });

  test('that fails is told so wherever its client is', async () => {
    for (const [at, readInputRequired] of [
      ['here', { code: 'MCP_RESOURCE_NOT_FOUND' }],
      ['there', { name: 'RpcFault', code: -32602 }],
    ] as const) {
      const all = rig();
      const { suspended } = await begin(all, async (_, ask) => {
        await ask();
        throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
      });
      await expect(all[at].suspendedCalls.resume(answers({ q1: accepted }), suspended)).rejects.toMatchObject(
        readInputRequired,
      );
    }
  });

  test('that fails has the status of its error wherever its client is', async () => {
    const all = rig();
    const { suspended } = await begin(all, async (_, ask) => {
      await ask();
      throw new GatewayError('MCP_DIALOGUE_UNSUPPORTED', { requiredCapabilities: { sampling: {} } });
    });
    await expect(all.there.suspendedCalls.resume(answers({ q1: accepted }), suspended)).rejects.toMatchObject(
      {
        ...{ name: 'RpcFault', code: -32021, status: 400 },
        data: { requiredCapabilities: { sampling: {} } },
      },
    );
  });

  test('is heard at another replica: its progress and its log messages', async () => {
    const all = rig();
    const received: unknown[] = [];
    const reply = { notify: (method: string, params: JsonObject) => void received.push([method, params]) };
    const listening = (inputResponses: JsonObject = {}): McpRequest => ({
      ...request({ inputResponses, _meta: { progressToken: 'p' } }),
      ...{ logLevel: 'info', reply: reply as never },
    });
    let go: () => void = () => undefined;
    const { suspended } = await begin(
      all,
      async ({ onProgress, onLog }, ask) => {
        await ask();
        for (const progress of [1, 2, 3]) onProgress?.({ progress, total: 9 });
        for (const level of ['debug', 'info', 'error']) onLog?.({ level, data: level });
        await new Promise<void>((resolve) => (go = resolve));
        onProgress?.({ progress: 8 });
        return 'done';
      },
      listening(),
    );
    const resumed = all.there.suspendedCalls.resume(listening({ q1: accepted }), suspended);
    await all.clock.advance(5_000);
    const message = 'notifications/message';
    expect(received).toEqual([
      [message, { level: 'info', data: 'info' }],
      [message, { level: 'error', data: 'error' }],
      ['notifications/progress', { progressToken: 'p', progress: 3, total: 9 }],
    ]);
    go();
    await all.clock.advance(5_000);
    expect(await resumed).toBe('done');
    expect(received.at(-1)).toEqual(['notifications/progress', { progressToken: 'p', progress: 8 }]);
  });

  test('gets no answer to what its client left out', async () => {
    const all = rig();
    const { suspended } = await begin(all, async (_, ask) =>
      ask().then(JSON.stringify, (error: unknown) => (error as Error).message),
    );
    expect(await all.here.suspendedCalls.resume(request({ inputResponses: 'odd' }), suspended)).toBe(
      'The client did not respond',
    );
  });

  test('is not asked what the request that waits did not declare', async () => {
    const all = rig();
    const { suspended } = await begin(all, async (_, ask) => {
      await ask();
      return ask().then(JSON.stringify, () => 'nobody');
    });
    const without = { ...answers({ q1: accepted }), capabilities: { roots: {} } };
    expect(await soon(all.clock, all.here.suspendedCalls.resume(without, suspended))).toBe('nobody');
  });

  test('is resumed once, at one replica', async () => {
    for (const order of [
      ['here', 'there'],
      ['there', 'here'],
      ['here', 'here'],
      ['there', 'there'],
    ] as const) {
      const all = rig();
      const { suspended } = await begin(all, async (_, ask) => JSON.stringify(await ask()));
      const tries = await Promise.allSettled(
        order.map((at) => all[at].suspendedCalls.resume(answers({ q1: accepted }), suspended)),
      );
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(tries.find(({ status }) => status === 'rejected')).toMatchObject({ reason: badState });
    }
  });

  test('is uncertain when its replica does not take the answer', async () => {
    const all = rig();
    const { suspended } = await begin(all, async (_, ask) => JSON.stringify(await ask()));
    const resumed = all.there.suspendedCalls.resume(answers({ q1: accepted }), {
      ...suspended,
      replica: 'dead',
      call: 'x',
    });
    await expect(resumed).rejects.toMatchObject(badState);
    await all.cache.set('resume-ticket:gone:1', 'dead', MINUTES);
    const waiting = all.there.suspendedCalls.resume(answers({ q1: accepted }), {
      ...suspended,
      ...{ replica: 'dead', call: 'gone' },
    });
    const settled = Promise.allSettled([waiting]);
    await all.clock.advance(MINUTES);
    expect(await settled).toMatchObject([{ reason: { code: 'MCP_OUTCOME_UNCERTAIN' } }]);
  });

  test('is not, while its replica works on it', async () => {
    const all = rig();
    let finish: (text: string) => void = () => undefined;
    const { suspended } = await begin(all, async (_, ask) => {
      await ask();
      return new Promise((resolve) => (finish = resolve));
    });
    const waiting = all.there.suspendedCalls.resume(answers({ q1: accepted }), suspended);
    await all.clock.advance(5 * MINUTES);
    finish('done');
    expect(await waiting).toBe('done');
  });

  test('ends with the process that it waits in', async () => {
    const all = rig();
    let signal: Cancellation | undefined;
    await begin(all, async (inbound, ask) => {
      ({ signal } = inbound);
      await ask();
      return forEver();
    });
    all.here.suspendedCalls.close();
    expect(signal?.aborted).toBe(true);
  });
});
