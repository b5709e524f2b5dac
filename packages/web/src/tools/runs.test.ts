import type { Problem, ToolResult } from '@behalf/contracts';
import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../api/request.ts';
import type { ToolCall } from '../api/tools.ts';
import { type RunInput, type RunsParts, createRuns, runStateText } from './runs.ts';

const input: RunInput = {
  ...{ server: 'everything', serverTitle: 'Everything', tool: 'echo', args: { message: 'hi' } },
  authority: { kind: 'none', shared: true },
};
const answer: ToolResult = { content: [{ type: 'text', text: 'hi' }], isError: false };

function refusal(code: Problem['code'], approval?: Problem['approval']): ApiError {
  const words = { title: code, detail: code };
  const problem = { ...words, code, ...(approval && { approval }) } as Problem;
  return new ApiError({ ...words, code, status: 409, problem });
}

/** Runs whose calls are answered by hand. */
function rig(more: Partial<RunsParts> = {}) {
  const calls: { call: ToolCall; resolve: (result: ToolResult) => void; reject: (error: unknown) => void }[] =
    [];
  const decided: [string, boolean][] = [];
  const shown: (() => void)[] = [];
  let time = 1_000;
  const runs = createRuns({
    call: (call) => new Promise((resolve, reject) => calls.push({ call, resolve, reject })),
    decide: async (id, approve) => decided.push([id, approve]),
    now: () => (time += 5),
    schedule: (work) => shown.push(work),
    ...more,
  });
  const first = () => {
    const [run] = runs.list.get();
    if (!run) throw new Error('no run');
    return run;
  };
  const at = (index: number) => {
    const one = calls[index];
    if (!one) throw new Error('no such call');
    return one;
  };
  return { runs, calls, decided, shown, first, at };
}

test('the state text says whether the call was sent', () => {
  const refused = (code: Problem['code']) => runStateText({ state: 'refused', error: refusal(code) });
  expect(refused('MCP_ARGUMENTS_INVALID')).toBe('Not sent');
  expect(refused('MCP_OUTCOME_UNCERTAIN')).toBe('No result');
  expect(runStateText({ state: 'done', error: undefined })).toBe('Done');
});

describe('a run', () => {
  test('ends with what the tool gave, and how long it took', async () => {
    const { runs, at, first } = rig();
    const running = runs.start(input);
    expect(first()).toMatchObject({ state: 'running', server: 'everything', args: { message: 'hi' } });
    at(0).resolve(answer);
    expect(await running).toMatchObject({ state: 'done', result: answer, durationMs: 5 });
    const failing = runs.start(input);
    at(1).resolve({ ...answer, isError: true });
    expect(await failing).toMatchObject({ state: 'failed' });
    const refused = runs.start(input);
    const error = refusal('MCP_UNREACHABLE');
    at(2).reject(error);
    expect(await refused).toMatchObject({ state: 'refused', error });
  });

  test('shows what is said meanwhile together, and the last of it', async () => {
    const { runs, at, first, shown } = rig();
    const running = runs.start(input);
    const { call } = at(0);
    for (let index = 0; index < 300; index += 1) {
      call.onProgress({ progress: index, total: 300 });
      call.onLog({ level: 'info', logger: 'demo', data: { index } });
    }
    expect(first().progress).toBeUndefined();
    expect(shown).toHaveLength(1);
    shown[0]?.();
    expect(first().progress).toEqual({ progress: 299, total: 300 });
    expect(first().logs).toHaveLength(200);
    expect(first().logs.at(-1)).toEqual({ level: 'info', text: 'demo: {"index":299}' });
    call.onLog({ data: 'x'.repeat(5_000) });
    at(0).resolve(answer);
    const { logs } = await running;
    expect(logs.at(-1)?.text).toHaveLength(2_001);
  });

  test('can be cancelled, and what comes afterwards is not heard', async () => {
    const { runs, at, first } = rig();
    const running = runs.start(input);
    runs.cancel(first().id);
    expect(first()).toMatchObject({ state: 'cancelled' });
    expect(at(0).call.signal.aborted).toBe(true);
    at(0).resolve(answer);
    expect(await running).toMatchObject({ state: 'cancelled' });
    expect(first().result).toBeUndefined();
    runs.cancel(first().id);
    runs.cancel(99);
  });

  test('waits for a sign-in, and is made unchanged after it', async () => {
    const { runs, at, calls, first } = rig();
    const auth = { code: 'needs_reauth', server: 'everything', reason: 'absent', connectUrl: '/servers/x' };
    const missing: ToolResult = { content: [], isError: true, _meta: { 'behalf/auth': auth } };
    const running = runs.start(input);
    at(0).resolve(missing);
    expect(await running).toMatchObject({
      state: 'held',
      connect: { server: 'everything', reason: 'absent' },
    });
    expect(first().result).toBeUndefined();
    const resumed = runs.resume(first().id);
    expect(first().state).toBe('running');
    // Told twice, it is made once.
    await runs.resume(first().id);
    expect(calls).toHaveLength(2);
    expect(at(1).call).toMatchObject({ server: 'everything', tool: 'echo', args: { message: 'hi' } });
    at(1).resolve(answer);
    await resumed;
    expect(first()).toMatchObject({ state: 'done', result: answer });
    await runs.resume(first().id);
    await runs.resume(99);
    expect(calls).toHaveLength(2);
  });

  test('a tool that asks first is called again only after a yes, unchanged', async () => {
    const { runs, at, first, decided, calls } = rig();
    const running = runs.start(input);
    at(0).reject(refusal('MCP_APPROVAL_REQUIRED', { id: 'a1', expiresAt: 5 }));
    expect(await running).toMatchObject({ state: 'waiting', approval: { id: 'a1' } });
    expect(calls).toHaveLength(1);
    const deciding = runs.decide(first().id, true);
    // A second click while the first one is under way.
    void runs.decide(first().id, true);
    expect(decided).toEqual([['a1', true]]);
    await Promise.resolve();
    expect(first().state).toBe('running');
    expect(at(1).call).toMatchObject({ server: 'everything', tool: 'echo', args: { message: 'hi' } });
    at(1).resolve(answer);
    await deciding;
    expect(first()).toMatchObject({ state: 'done', result: answer });
  });

  test('after a no it is not called, and a new question is asked anew', async () => {
    const { runs, at, first, decided, calls } = rig();
    const running = runs.start(input);
    at(0).reject(refusal('MCP_APPROVAL_REQUIRED', { id: 'a1', expiresAt: 5 }));
    await running;
    await runs.decide(first().id, false);
    expect(first().state).toBe('denied');
    expect([decided, calls.length]).toEqual([[['a1', false]], 1]);
    await runs.decide(first().id, true);
    expect(calls).toHaveLength(1);

    const again = runs.start(input);
    at(1).reject(refusal('MCP_APPROVAL_REQUIRED', { id: 'a2', expiresAt: 5 }));
    await again;
    const deciding = runs.decide(first().id, true);
    await Promise.resolve();
    at(2).reject(refusal('MCP_APPROVAL_REQUIRED', { id: 'a3', expiresAt: 5 }));
    await deciding;
    expect(first()).toMatchObject({ state: 'waiting', approval: { id: 'a3' } });
    expect(calls).toHaveLength(3);
  });

  test('keeps waiting where the decision did not arrive, and says why', async () => {
    const error = refusal('MCP_APPROVAL_NOT_FOUND');
    const { runs, at, first } = rig({ decide: () => Promise.reject(error) });
    const running = runs.start(input);
    at(0).reject(refusal('MCP_APPROVAL_REQUIRED', { id: 'a1', expiresAt: 5 }));
    await running;
    await runs.decide(first().id, true);
    expect(first()).toMatchObject({ state: 'waiting', decisionError: error, isDeciding: false });
  });

  test('is remembered among the last twenty, and while it is not over', async () => {
    const { runs, at } = rig();
    void runs.start(input);
    for (let index = 1; index <= 30; index += 1) {
      const running = runs.start({ ...input, tool: `t${index}` });
      at(index).resolve(answer);
      await running;
    }
    const stored = runs.list.get();
    expect(stored).toHaveLength(21);
    expect(stored[0]?.tool).toBe('t30');
    expect(stored.at(-1)).toMatchObject({ tool: 'echo', state: 'running' });
  });
});
