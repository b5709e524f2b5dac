import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunView } from '@behalf/contracts';
import type { ScriptedTool } from '@behalf/testkit';
import { eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { readResponse, saveBlock, sharingSettings } from './blockRig.ts';
import { createWorkspace, type GatewayWorkspace } from './gatewayProcess.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createAdjustableClock } from './adjustableClock.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';
import {
  requestCancel,
  requestResume,
  requestRun,
  startRun,
  runToEnd,
  resumeToEnd,
  waitForRunEnd,
  saveSet,
  readStates,
  readRun,
} from './setRig.ts';

const said = (text: string) => ({ content: [{ type: 'text', text }] });

/** A tool that answers when it is let, and counts how often it was asked. */
function gated(name: string) {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  let requestCount = 0;
  const tool: ScriptedTool = {
    name,
    handler: async () => {
      requestCount += 1;
      await gate;
      return said(name);
    },
  };
  return { tool, open: () => open(), requests: () => requestCount };
}

describe('a run of a set', () => {
  const rig = createGatewayRig();

  /** A set of a quick step, the one under test, and another quick one. */
  async function begin(tool: ScriptedTool, definition: object = {}, settings: object = {}) {
    const quick = { name: 'quick', handler: () => said('quick') };
    const server = await rig.startServer({ era: 'legacy', tools: [quick, tool] });
    const yaml = renderYaml(
      { post: httpDefinition(server.url, definition) },
      { ...sharingSettings, ...settings },
    );
    const [ada] = (await rig.start(yaml)) as [TestUser];
    const first = (await saveBlock(ada, { server: 'post', tool: 'quick' })).id;
    const second = (await saveBlock(ada, { server: 'post', tool: tool.name })).id;
    const { id } = await saveSet(ada, [
      { key: 'a', block: first },
      { key: 'b', block: second },
      { key: 'c', block: first },
    ]);
    const sent = (name: string) =>
      server.received('tools/call').filter(({ message }) => message?.params?.['name'] === name).length;
    return { server, ada, id, sent };
  }

  test('is cancelled where it runs: the step under way is uncertain, and none begins after it', async () => {
    const { tool, requests, open } = gated('wait');
    const { ada, id, sent } = await begin(tool);
    const runId = await startRun(ada, id);
    await eventually('the step is under way', () => requests() === 1);
    const { status, body } = await requestCancel(ada, runId);
    expect([status, readStates(body), body.resumable]).toEqual([
      ...[200, ['cancelled', 'succeeded', 'uncertain', 'pending'], false],
    ]);
    open();
    expect((await requestResume(ada, runId)).body.code).toBe('RUN_NOT_RESUMABLE');
    expect((await requestCancel(ada, runId)).body.state).toBe('cancelled');
    expect([sent('quick'), sent('wait')]).toEqual([1, 1]);
  });

  test('is cancelled from another replica', async () => {
    const { tool, requests, open } = gated('wait');
    const { ada, id, sent } = await begin(tool);
    const [otherReplica] = (await rig.startReplica([ada])) as [TestUser];
    const runId = await startRun(ada, id);
    await eventually('the step is under way', () => requests() === 1);
    expect((await readRun(otherReplica, runId)).state).toBe('running');
    const { body } = await requestCancel(otherReplica, runId);
    expect([body.state, body.isCancelling]).toEqual(['running', true]);
    const run = await waitForRunEnd(otherReplica, runId);
    expect([readStates(run), run.isCancelling]).toEqual([
      ...[['cancelled', 'succeeded', 'uncertain', 'pending'], false],
    ]);
    open();
    expect(sent('quick')).toBe(1);
  });

  test('that is under way is resumed by nobody', async () => {
    const { tool, requests, open } = gated('wait');
    const { ada, id } = await begin(tool);
    const [otherReplica] = (await rig.startReplica([ada])) as [TestUser];
    const runId = await startRun(ada, id);
    await eventually('the step is under way', () => requests() === 1);
    for (const who of [ada, otherReplica]) {
      expect((await requestResume(who, runId)).body.code).toBe('RUN_NOT_RESUMABLE');
    }
    open();
    expect((await waitForRunEnd(ada, runId)).state).toBe('succeeded');
    expect(requests()).toBe(1);
  });

  const breaking = (server: Awaited<ReturnType<typeof begin>>['server']) => {
    const isWrite = (message?: { method?: string; params?: Readonly<Record<string, unknown>> }) =>
      message?.method === 'tools/call' && message.params?.['name'] === 'write';
    server.change({ respond: ({ message }) => (isWrite(message) ? 'reset' : undefined) });
    return () => server.change({ respond: () => undefined });
  };

  test('stops at a step that may have run, and resuming does not repeat it', async () => {
    const { server, ada, id, sent } = await begin({ name: 'write', handler: () => said('wrote') });
    const mend = breaking(server);
    const run = await runToEnd(ada, id);
    expect([readStates(run), run.steps[1]?.code, run.resumable]).toEqual([
      ...[['uncertain', 'succeeded', 'uncertain', 'pending'], 'MCP_OUTCOME_UNCERTAIN', false],
    ]);
    mend();
    for (let turn = 0; turn < 2; turn += 1) {
      const { status, body } = await requestResume(ada, run.id);
      expect([status, body.code]).toEqual([409, 'RUN_OUTCOME_UNCERTAIN']);
    }
    expect([sent('quick'), sent('write')]).toEqual([1, 1]);
    expect(readStates(await readRun(ada, run.id))).toEqual(readStates(run));
  });

  test('repeats it where the operator vouches for the tool, and then goes on', async () => {
    const write = { name: 'write', handler: () => said('wrote') };
    const { server, ada, id, sent } = await begin(write, { idempotentTools: ['write'] });
    const mend = breaking(server);
    const run = await runToEnd(ada, id);
    expect([run.state, run.resumable]).toEqual(['uncertain', true]);
    const before = sent('write');
    mend();
    expect(readStates(await resumeToEnd(ada, run.id))).toEqual([
      'succeeded',
      ...run.steps.map(() => 'succeeded'),
    ]);
    expect([sent('quick'), sent('write') - before]).toEqual([2, 1]);
  });

  test('goes on with a step that was never sent', async () => {
    const { server, ada, id, sent } = await begin({ name: 'write', handler: () => said('wrote') });
    const busy = { status: 429, headers: { 'retry-after': '1' } };
    server.change({
      respond: ({ message }) => (message?.params?.['name'] === 'write' ? busy : undefined),
    });
    const run = await runToEnd(ada, id);
    expect([readStates(run), run.resumable]).toEqual([['failed', 'succeeded', 'failed', 'pending'], true]);
    server.change({ respond: () => undefined });
    expect((await resumeToEnd(ada, run.id)).state).toBe('succeeded');
    expect(sent('quick')).toBe(2);
  });

  test('waits for its user to approve a call that asks first', async () => {
    const write = { name: 'write', handler: () => said('wrote') };
    const { ada, id, sent } = await begin(
      write,
      {},
      { endpoints: { agents: { toolApproval: { ask: ['mcp:post:write'] } } } },
    );
    const run = await runToEnd(ada, id);
    const wait = run.steps[1]?.wait;
    expect([readStates(run), wait?.kind]).toEqual([
      ['waiting', 'succeeded', 'waiting', 'pending'],
      'approval',
    ]);
    expect(sent('write')).toBe(0);
    await ada.post(`/api/mcp/approvals/${wait?.kind === 'approval' ? wait.id : ''}`, { approve: true });
    expect((await resumeToEnd(ada, run.id)).state).toBe('succeeded');
    expect([sent('quick'), sent('write')]).toEqual([2, 1]);
  });

  const change = async (who: TestUser, path: string) => {
    const { status } = await who.send('PATCH', `/api/mcp/${path}`, { title: 'What nobody read' });
    expect(status).toBe(200);
  };
  const blockOf = (run: RunView, at: number) => `blocks/${run.steps[at]?.block ?? ''}`;

  test('begins only with the version of the set that was read', async () => {
    const { ada, id, sent } = await begin({ name: 'write', handler: () => said('wrote') });
    const runSeen = (version: string) =>
      readResponse<RunView & { code?: string }>(
        ada.send('POST', `/api/mcp/sets/${id}/run`, {}, { 'if-match': version }),
      );
    await change(ada, `sets/${id}`);
    const { status, body } = await runSeen('"1"');
    expect([status, body.code]).toEqual([412, 'VERSION_CONFLICT']);
    const listed = await readResponse<{ runs: unknown[] }>(ada.get(`/api/mcp/sets/${id}/runs`));
    expect([listed.body.runs, sent('quick')]).toEqual([[], 0]);
    const startedRun = await runSeen('"2"');
    expect(startedRun.status).toBe(202);
    expect((await waitForRunEnd(ada, startedRun.body.id)).state).toBe('succeeded');
  });

  test('begins only with the versions of the blocks that were read', async () => {
    const { ada, id, sent } = await begin({ name: 'write', handler: () => said('wrote') });
    const before = await runToEnd(ada, id, { blocks: { a: 1, b: 1 } });
    expect([before.state, sent('write')]).toEqual(['succeeded', 1]);
    await change(ada, blockOf(before, 1));
    const { status, body } = await requestRun(ada, id, { blocks: { a: 1, b: 1 } });
    expect([status, body.code, sent('quick')]).toEqual([412, 'VERSION_CONFLICT', 2]);
    expect((await runToEnd(ada, id, { blocks: { a: 1, b: 2 } })).state).toBe('succeeded');
  });

  test('ends before a step whose block was changed since it began', async () => {
    const { tool, requests, open } = gated('wait');
    const { ada, id, sent } = await begin(tool);
    const runId = await startRun(ada, id);
    await eventually('the step is under way', () => requests() === 1);
    await change(ada, blockOf(await readRun(ada, runId), 2));
    open();
    const run = await waitForRunEnd(ada, runId);
    expect([readStates(run), run.steps[2]?.code, run.resumable]).toEqual([
      ...[['failed', 'succeeded', 'succeeded', 'failed'], 'RUN_BLOCK_CHANGED', false],
    ]);
    const { status, body } = await requestResume(ada, runId);
    expect([status, body.code, sent('quick')]).toEqual([409, 'RUN_BLOCK_CHANGED', 1]);
    expect((await runToEnd(ada, id)).state).toBe('succeeded');
  });

  test('is not resumed when a block that is left was changed meanwhile', async () => {
    const { server, ada, id, sent } = await begin({ name: 'write', handler: () => said('wrote') });
    server.change({
      respond: ({ message }) => (message?.params?.['name'] === 'write' ? { status: 429 } : undefined),
    });
    const run = await runToEnd(ada, id);
    expect([run.state, run.resumable]).toEqual(['failed', true]);
    server.change({ respond: () => undefined });
    const before = sent('write');
    // Not the next one: the one after it.
    await change(ada, blockOf(run, 2));
    const { status, body } = await requestResume(ada, run.id);
    expect([status, body.code]).toEqual([409, 'RUN_BLOCK_CHANGED']);
    expect([sent('quick'), sent('write') - before]).toEqual([1, 0]);
    expect(readStates(await readRun(ada, run.id))).toEqual(readStates(run));
  });

  test('is not resumed beside as many as one may have under way', async () => {
    const { tool, requests, open } = gated('wait');
    const { server, ada, id } = await begin(tool);
    const isWait = (message?: { params?: Readonly<Record<string, unknown>> }) =>
      message?.params?.['name'] === 'wait';
    server.change({ respond: ({ message }) => (isWait(message) ? { status: 429 } : undefined) });
    const run = await runToEnd(ada, id);
    expect([run.state, run.resumable]).toEqual(['failed', true]);
    server.change({ respond: () => undefined });
    const wait = run.steps[1]?.block;
    const singleSet = await saveSet(ada, [{ key: 'a', block: wait }]);
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1) ids.push(await startRun(ada, singleSet.id));
    await eventually('they are under way', () => requests() === 20);
    const { status, body } = await requestResume(ada, run.id);
    expect([status, body.code]).toEqual([409, 'RUN_LIMIT']);
    expect(readStates(await readRun(ada, run.id))).toEqual(readStates(run));
    open();
    for (const each of ids) expect((await waitForRunEnd(ada, each)).state).toBe('succeeded');
    expect((await resumeToEnd(ada, run.id)).state).toBe('succeeded');
  });

  test('stops when the account of its user is disabled meanwhile', async () => {
    const { tool, requests, open } = gated('wait');
    const server = await rig.startServer({ era: 'legacy', tools: [tool] });
    const users = [{ name: 'Root', role: 'ADMIN' }, 'Ada'];
    const [root, ada] = (await rig.start(
      renderYaml({ post: httpDefinition(server.url) }, sharingSettings),
      users,
    )) as [TestUser, TestUser];
    const wait = (await saveBlock(ada, { server: 'post', tool: 'wait' })).id;
    const { id } = await saveSet(
      ada,
      ['a', 'b'].map((key) => ({ key, block: wait })),
    );
    const runId = await startRun(ada, id);
    await eventually('the step is under way', () => requests() === 1);
    const at = `/api/admin/users/${ada.id}`;
    expect((await root.send('PATCH', at, { disabled: true })).status).toBe(200);
    open();
    const endedRun = await eventually('the run has ended', async () => {
      const { body } = await readResponse<{ events: Record<string, unknown>[] }>(
        root.get('/api/admin/audit?limit=100'),
      );
      return body.events.find(({ action, request }) => action === 'set.run' && request === runId);
    });
    expect([endedRun['outcome'], endedRun['code'], requests()]).toEqual(['failed', 'AUTH_REQUIRED', 1]);
  });
});

describe('a run whose replica is gone', () => {
  const opened: { close(): Promise<void> }[] = [];
  let workplace: GatewayWorkspace | undefined;
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
    await workplace?.cleanUp();
  });
  const rig = createGatewayRig();

  test('is shown as interrupted, and resumed elsewhere unless the step under way may have run', async () => {
    const write = gated('write');
    const read = gated('read');
    const quick = { name: 'quick', handler: () => said('quick') };
    const server = await rig.startServer({ era: 'legacy', tools: [quick, write.tool, read.tool] });
    const yaml = renderYaml(
      { post: httpDefinition(server.url, { idempotentTools: ['read'] }) },
      sharingSettings,
    );
    workplace = await createWorkspace();
    const file = join(workplace.dir, 'librechat.yaml');
    await writeFile(file, yaml);
    const dataDir = join(workplace.dir, 'data');
    const killed = await workplace.start({ CONFIG_PATH: file, BEHALF_DATA_DIR: dataDir });
    const [ada] = (await createUsers({ url: killed.url, dataDir }, ['Ada'])) as [TestUser];
    const ids: string[] = [];
    for (const tool of ['write', 'read']) {
      const first = (await saveBlock(ada, { server: 'post', tool: 'quick' })).id;
      const second = (await saveBlock(ada, { server: 'post', tool })).id;
      const { id } = await saveSet(ada, [
        { key: 'a', block: first },
        { key: 'b', block: second },
      ]);
      ids.push(await startRun(ada, id));
    }
    await eventually('both are under way', () => write.requests() === 1 && read.requests() === 1);
    killed.signal('SIGKILL');
    await killed.waitForExit();
    read.open();
    write.open();

    const clock = createAdjustableClock();
    const other: InProcessGateway = await startInProcess({ BEHALF_DATA_DIR: dataDir }, yaml, clock);
    opened.push(other);
    const again = connectUser(other.url, ada.id, ada.cookie.slice(ada.cookie.indexOf('=') + 1));
    const [written, readOnly] = ids as [string, string];
    // Its lease has not lapsed: it may be alive.
    expect((await readRun(again, written)).state).toBe('running');
    clock.advance(21_000);
    for (const id of ids) {
      const run = await readRun(again, id);
      expect([readStates(run), run.resumable]).toEqual([['interrupted', 'succeeded', 'running'], true]);
    }
    expect((await requestResume(again, written)).body.code).toBe('RUN_OUTCOME_UNCERTAIN');
    expect(readStates(await readRun(again, written))).toEqual(['uncertain', 'succeeded', 'uncertain']);
    expect(readStates(await resumeToEnd(again, readOnly))).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect([write.requests(), read.requests()]).toEqual([1, 2]);
    expect(
      server.received('tools/call').filter(({ message }) => message?.params?.['name'] === 'quick'),
    ).toHaveLength(2);
  }, 60_000);

  test('does not count as under way when another begins', async () => {
    const write = gated('write');
    const server = await rig.startServer({ era: 'legacy', tools: [write.tool] });
    const yaml = renderYaml({ post: httpDefinition(server.url) }, sharingSettings);
    workplace = await createWorkspace();
    const file = join(workplace.dir, 'librechat.yaml');
    await writeFile(file, yaml);
    const dataDir = join(workplace.dir, 'data');
    const killed = await workplace.start({ CONFIG_PATH: file, BEHALF_DATA_DIR: dataDir });
    const [ada] = (await createUsers({ url: killed.url, dataDir }, ['Ada'])) as [TestUser];
    const block = (await saveBlock(ada, { server: 'post', tool: 'write' })).id;
    const { id } = await saveSet(ada, [{ key: 'a', block }]);
    const ids: string[] = [];
    for (let i = 0; i < 20; i += 1) ids.push(await startRun(ada, id));
    await eventually('they are under way', () => write.requests() === 20);
    killed.signal('SIGKILL');
    await killed.waitForExit();
    write.open();

    const clock = createAdjustableClock();
    const other: InProcessGateway = await startInProcess({ BEHALF_DATA_DIR: dataDir }, yaml, clock);
    opened.push(other);
    const again = connectUser(other.url, ada.id, ada.cookie.slice(ada.cookie.indexOf('=') + 1));
    clock.advance(21_000);
    expect((await runToEnd(again, id)).state).toBe('succeeded');
    expect(readStates(await readRun(again, ids[0] ?? ''))).toEqual(['uncertain', 'uncertain']);
    expect((await requestResume(again, ids[0] ?? '')).body.code).toBe('RUN_OUTCOME_UNCERTAIN');
    expect(write.requests()).toBe(21);
  }, 60_000);
});
