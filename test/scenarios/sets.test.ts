import { RunsView, SetsView } from '@behalf/contracts';
import type { ScriptedTool } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { readResponse, saveBlock, shareBlock, sharingSettings } from './blockRig.ts';
import { collectEvents } from './collectEvents.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import {
  requestRun,
  startRun,
  checkToolSet,
  fixedValue,
  fromStep,
  runToEnd,
  waitForRunEnd,
  saveSet,
  shareSet,
  readStates,
  readRun,
  type SetRefusal,
} from './setRig.ts';

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };

/** Three ways in which tools answer. */
const tools: ScriptedTool[] = [
  {
    name: 'look',
    inputSchema: text,
    handler: ({ text: said }) => ({
      content: [{ type: 'text', text: 'found' }],
      structuredContent: { items: [{ 'a/b': said, '~n': 7 }] },
    }),
  },
  {
    name: 'json',
    inputSchema: text,
    handler: ({ text: said }) => ({ content: [{ type: 'text', text: JSON.stringify({ said }) }] }),
  },
  {
    name: 'plain',
    inputSchema: text,
    handler: ({ text: said }) => ({ content: [{ type: 'text', text: String(said) }] }),
  },
  {
    name: 'large',
    handler: () => ({ content: [{ type: 'text', text: 'x'.repeat(300 * 1024) }] }),
  },
  {
    name: 'slow',
    handler: (_args, call) => {
      call.progress(1, 2);
      return { content: [{ type: 'text', text: 'done' }] };
    },
  },
  { name: 'fails', handler: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }) },
];

describe('sets', () => {
  const rig = createGatewayRig();

  async function begin(names: Parameters<typeof rig.start>[1] = ['Ada', 'Bob']) {
    const server = await rig.startServer({ era: 'legacy', tools });
    const users = await rig.start(renderYaml({ post: httpDefinition(server.url) }, sharingSettings), names);
    const [ada, bob, root] = users as [TestUser, TestUser, TestUser];
    const block = async (tool: string, inputs: object = {}) =>
      (await saveBlock(ada, { server: 'post', tool, inputs })).id;
    return { server, ada, bob, root, block };
  }

  const refused = async (answer: Promise<Response>) => {
    const { status, body } = await readResponse<SetRefusal>(answer);
    return [status, body.code, ...(body.errors ?? []).map(({ path }) => path)];
  };

  test('title and steps are there after saving, changing and a restart; what does not fit is not saved', async () => {
    const { ada, block } = await begin();
    const [look, closed] = [await block('look'), await block('plain', { text: fixedValue('always') })];
    const steps = [
      { key: 'one', block: look, inputs: { text: fixedValue('x') } },
      { key: 'two', block: look, inputs: { text: fromStep('one', '/items/0/a~1b') } },
    ];
    const saved = await saveSet(ada, steps, { title: ' A <b>set</b> ', description: 'x' });
    expect(saved).toMatchObject({ title: 'A <b>set</b>', steps, version: 1, permissions: 15 });
    const at = `/api/mcp/sets/${saved.id}`;
    const changed = await readResponse(ada.send('PATCH', at, { title: 'B' }, { 'If-Match': '"1"' }));
    expect(changed).toMatchObject({ status: 200, body: { title: 'B', version: 2 } });
    expect(await refused(ada.send('PATCH', at, { title: 'C' }, { 'If-Match': '"1"' }))).toEqual([
      ...[412, 'VERSION_CONFLICT'],
    ]);
    const [again] = await rig.startReplica([ada]);
    expect((await readResponse(again!.get(at))).body).toEqual(changed.body);
    const list = await readResponse(ada.get('/api/mcp/sets'));
    expect(SetsView.parse(list.body)).toEqual({ sets: [changed.body], next: null });
    const save = (wrong: object[]) => refused(ada.post('/api/mcp/sets', { title: 'x', steps: wrong }));
    const two = (inputs: object, key = 'two') => [steps[0]!, { key, block: look, inputs }];
    expect(await save([])).toEqual([400, 'REQUEST_INVALID', 'steps']);
    expect(await save(two({}, 'one'))).toEqual([400, 'REQUEST_INVALID', 'steps.1.key']);
    const place = 'steps.1.inputs.text';
    expect(await save(two({ text: fromStep('two') }))).toEqual([400, 'REQUEST_INVALID', `${place}.step`]);
    for (const pointer of ['a', '/~2', '#/a']) {
      expect(await save(two({ text: fromStep('one', pointer) }))).toEqual([
        ...[400, 'REQUEST_INVALID', `${place}.pointer`],
      ]);
    }
    expect(await save([{ key: 'a', block: 'nobodys' }])).toEqual([400, 'SET_INVALID', 'steps.0.block']);
    expect(await save([{ key: 'a', block: closed, inputs: { text: fixedValue('other') } }])).toEqual([
      ...[400, 'SET_INVALID', 'steps.0.inputs.text'],
    ]);
    expect((await ada.send('DELETE', at)).status).toBe(204);
    expect(await refused(ada.get(at))).toEqual([404, 'SET_NOT_FOUND']);
  });

  test('a set of somebody else answers as one that does not exist, to an administrator too', async () => {
    const { ada, bob, root, block } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const { id } = await saveSet(ada, [{ key: 'a', block: await block('slow') }]);
    for (const who of [bob, root]) {
      for (const set of [id, 'unknown']) {
        const at = `/api/mcp/sets/${set}`;
        const notFound = [404, 'SET_NOT_FOUND'];
        expect(await refused(who.get(at))).toEqual(notFound);
        expect(await refused(who.send('PATCH', at, { title: 'x' }))).toEqual(notFound);
        expect(await refused(who.send('DELETE', at))).toEqual(notFound);
        expect(await refused(who.post(`${at}/run`, {}))).toEqual(notFound);
        expect(await refused(who.post(`${at}/check`, {}))).toEqual(notFound);
        expect(await refused(who.get(`/api/permissions/set/${set}`))).toEqual(notFound);
      }
    }
  });

  test('a shared set gives nobody its blocks, and says which steps lack theirs', async () => {
    const { ada, bob, server, block } = await begin();
    const [first, second] = [await block('slow'), await block('plain', { text: fixedValue('x') })];
    const { id } = await saveSet(ada, [
      { key: 'a', block: first },
      { key: 'b', block: second },
    ]);
    await shareSet(ada, id, [bob]);
    await shareBlock(ada, first, [bob]);
    expect(await refused(bob.send('PATCH', `/api/mcp/sets/${id}`, { title: 'x' }))).toEqual([
      ...[403, 'SET_FORBIDDEN'],
    ]);
    const requestCount = server.received('tools/call').length;
    const { status, body } = await requestRun(bob, id);
    expect([status, body.code, body.errors]).toMatchObject([
      ...[422, 'SET_INCOMPLETE'],
      [{ path: 'steps.b', code: 'not_found' }],
    ]);
    expect(server.received('tools/call')).toHaveLength(requestCount);
    await shareBlock(ada, second, [bob]);
    expect(readStates(await runToEnd(bob, id))).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  test('a later input takes what stands at a pointer in the output of an earlier step', async () => {
    const { ada, server, block } = await begin();
    const [look, json, plain] = [await block('look'), await block('json'), await block('plain')];
    const { id } = await saveSet(ada, [
      { key: 'look', block: look },
      { key: 'json', block: json, inputs: { text: fromStep('look', '/items/0/a~1b') } },
      { key: 'plain', block: plain, inputs: { text: fromStep('json', '/said') } },
      { key: 'whole', block: plain, inputs: { text: fromStep('plain') } },
    ]);
    const run = await runToEnd(ada, id, { inputs: { look: { text: 'from hand to hand' } } });
    expect(readStates(run)).toEqual(['succeeded', ...run.steps.map(() => 'succeeded')]);
    const sent = server.received('tools/call').map(({ message }) => message?.params?.['arguments']);
    expect(sent).toEqual(Array.from({ length: 4 }, () => ({ text: 'from hand to hand' })));
    expect(run.steps[3]?.result?.content).toEqual([{ type: 'text', text: 'from hand to hand' }]);
  });

  test('what is not there, or is not what the tool takes, ends the run before the step is sent', async () => {
    const { ada, server, block } = await begin();
    const [look, plain] = [await block('look'), await block('plain')];
    for (const [pointer, code] of [
      ['/items/1', 'SET_INPUT_UNAVAILABLE'],
      ['/items/constructor', 'SET_INPUT_UNAVAILABLE'],
      ['/__proto__', 'SET_INPUT_UNAVAILABLE'],
      ['/items/00', 'SET_INPUT_UNAVAILABLE'],
      ['/items/0/~0n', 'MCP_ARGUMENTS_INVALID'],
    ]) {
      const { id } = await saveSet(ada, [
        { key: 'a', block: look, inputs: { text: fixedValue('x') } },
        { key: 'b', block: plain, inputs: { text: fromStep('a', pointer) } },
      ]);
      const run = await runToEnd(ada, id);
      expect([readStates(run), run.steps[1]?.code]).toEqual([['failed', 'succeeded', 'failed'], code]);
    }
    const names = server.received('tools/call').map(({ message }) => message?.params?.['name']);
    expect(new Set(names)).toEqual(new Set(['look']));
  });

  test('the answer comes at once, and the events of a run tell of each step', async () => {
    const { ada, block } = await begin();
    const slow = await block('slow');
    const steps = ['a', 'b'].map((key) => ({ key, block: slow }));
    const { id } = await saveSet(ada, steps);
    const startResponse = await ada.post(`/api/mcp/sets/${id}/run`, {});
    expect([startResponse.status, startResponse.headers.get('location')]).toEqual([
      ...[202, expect.stringMatching(/^\/api\/mcp\/runs\/[\w-]+$/)],
    ]);
    const { id: runId } = (await startResponse.json()) as { id: string };
    expect(readStates(await waitForRunEnd(ada, runId))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    const response = await ada.post(
      `/api/mcp/sets/${id}/run`,
      {},
      { headers: { accept: 'text/event-stream' } },
    );
    const events = await collectEvents(response);
    const reportedSteps = events.map(({ event, data }) => {
      const { key, state, step } = data as Record<string, string>;
      return [event, key ?? step, state].filter((each) => each !== undefined).join(' ');
    });
    expect(reportedSteps).toEqual([
      'run running',
      ...['step a running', 'progress a', 'step a succeeded'],
      ...['step b running', 'progress b', 'step b succeeded'],
      'result succeeded',
    ]);
    const { body } = await readResponse(ada.get(`/api/mcp/sets/${id}/runs`));
    const { runs, next } = RunsView.parse(body);
    expect([runs.map(({ state, done, total }) => [state, done, total]), next]).toEqual([
      ...[[...runs.map(() => ['succeeded', 2, 2])], null],
    ]);
    expect(runs.map((run) => run.id)).toEqual([(events[0]?.data as { id: string }).id, runId]);
  });

  test('a run is there for who ran it and for nobody else', async () => {
    const { ada, bob, root, block } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const slow = await block('slow');
    const { id } = await saveSet(ada, [{ key: 'a', block: slow }]);
    for (const who of [bob, root]) {
      await shareSet(ada, id, [who]);
      await shareBlock(ada, slow, [who]);
    }
    const run = await runToEnd(bob, id);
    const notFound = [404, 'RUN_NOT_FOUND'];
    for (const who of [ada, root]) {
      for (const runId of [run.id, 'unknown']) {
        expect(await refused(who.get(`/api/mcp/runs/${runId}`))).toEqual(notFound);
        expect(await refused(who.post(`/api/mcp/runs/${runId}/cancel`, {}))).toEqual(notFound);
        expect(await refused(who.post(`/api/mcp/runs/${runId}/resume`, {}))).toEqual(notFound);
      }
      expect((await readResponse(who.get(`/api/mcp/sets/${id}/runs`))).body).toEqual({
        runs: [],
        next: null,
      });
    }
    expect(await readRun(bob, run.id)).toEqual(run);
  });

  test('a tool that fails ends the run, and is not asked again by resuming it', async () => {
    const { ada, server, block } = await begin();
    const { id } = await saveSet(ada, [
      { key: 'a', block: await block('fails') },
      { key: 'b', block: await block('slow') },
    ]);
    const run = await runToEnd(ada, id);
    expect([readStates(run), run.resumable]).toEqual([['failed', 'failed', 'pending'], false]);
    expect(await refused(ada.post(`/api/mcp/runs/${run.id}/resume`, {}))).toEqual([409, 'RUN_NOT_RESUMABLE']);
    expect(server.received('tools/call')).toHaveLength(1);
  });

  test('a result that is too large is not kept, and no step takes from it', async () => {
    const { ada, block } = await begin();
    const [large, plain] = [await block('large'), await block('plain')];
    const { id } = await saveSet(ada, [
      { key: 'a', block: large },
      { key: 'b', block: plain, inputs: { text: fromStep('a') } },
    ]);
    const run = await runToEnd(ada, id);
    expect([readStates(run), run.steps[0]?.isResultLost, run.steps[0]?.result]).toEqual([
      ...[['failed', 'succeeded', 'failed'], true, undefined],
    ]);
    expect(run.steps[1]?.errors).toMatchObject([{ path: 'inputs.text', code: 'result_lost' }]);
    const keys = ['a', 'b', 'c'];
    const { id: wide } = await saveSet(
      ada,
      keys.map((key) => ({ key, block: plain })),
    );
    const inputs = Object.fromEntries(keys.map((key) => [key, { text: 'x'.repeat(200 * 1024) }]));
    expect((await requestRun(ada, wide, { inputs })).body.code).toBe('REQUEST_TOO_LARGE');
  });

  test('a run brings nothing to an input that the set decides about, and to no step that is not there', async () => {
    const { ada, server, block } = await begin();
    const { id } = await saveSet(ada, [
      { key: 'a', block: await block('plain'), inputs: { text: fixedValue('ours') } },
    ]);
    const broken = await requestRun(ada, id, { inputs: { a: { text: 'theirs' } } });
    expect([broken.body.code, broken.body.errors?.[0]?.path]).toEqual([
      ...['SET_INCOMPLETE', 'steps.a.inputs.text'],
    ]);
    const stray = await requestRun(ada, id, { inputs: { b: { text: 'x' } } });
    expect([stray.body.code, stray.body.errors?.[0]?.path]).toEqual(['REQUEST_INVALID', 'inputs.b']);
    expect(server.received('tools/call')).toHaveLength(0);
    const check = await checkToolSet(ada, id);
    expect([check.runs, check.steps]).toMatchObject([true, [{ step: 'a', state: 'ready' }]]);
  });

  test('saving, sharing and running a set are written down, with names and no values', async () => {
    const { ada, bob, root, block } = await begin(['Ada', 'Bob', { name: 'Root', role: 'ADMIN' }]);
    const plain = await block('plain');
    const { id } = await saveSet(ada, [{ key: 'a', block: plain, inputs: { text: fixedValue('pl4nted') } }]);
    await shareSet(ada, id, [bob]);
    const runId = (await runToEnd(ada, id)).id;
    await ada.send('PATCH', `/api/mcp/sets/${id}`, { title: 'T' });
    await ada.send('DELETE', `/api/mcp/sets/${id}`);
    const { body } = await readResponse<{ events: Record<string, unknown>[] }>(
      root.get('/api/admin/audit?limit=1000'),
    );
    const of = body.events.filter(({ subject, request }) => subject === id || request === runId);
    const audited = of.map(({ action, outcome, request }) => [action, outcome, request === runId]);
    expect(audited.toReversed()).toEqual([
      ['set.create', 'ok', false],
      ['set.share', 'ok', false],
      ['tool.call', 'ok', true],
      ['set.run', 'ok', true],
      ['set.change', 'ok', false],
      ['set.delete', 'ok', false],
    ]);
    expect(JSON.stringify(body)).not.toContain('pl4nted');
  });

  test('twenty runs of one user are under way at once, and no more', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const server = await rig.startServer({
      era: 'legacy',
      tools: [{ name: 'wait', handler: async () => (await gate, { content: [] }) }],
    });
    const [ada] = (await rig.start(renderYaml({ post: httpDefinition(server.url) }, sharingSettings))) as [
      TestUser,
    ];
    const wait = (await saveBlock(ada, { server: 'post', tool: 'wait' })).id;
    const { id } = await saveSet(ada, [{ key: 'a', block: wait }]);
    const ids = [];
    for (let i = 0; i < 20; i += 1) ids.push(await startRun(ada, id));
    const { status, body } = await requestRun(ada, id);
    expect([status, body.code]).toEqual([409, 'RUN_LIMIT']);
    open();
    for (const runId of ids) expect((await waitForRunEnd(ada, runId)).state).toBe('succeeded');
    expect((await runToEnd(ada, id)).state).toBe('succeeded');
  });
});
