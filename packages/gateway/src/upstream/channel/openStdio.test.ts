import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  sendRequest,
  callChannelTool,
  createChannelRig,
  readPid,
  scriptedTarget,
  receivedBy,
  type ChannelRig,
} from '../../../test/channelRig.ts';
import { isProcessAlive, keepAliveScript } from '../../../test/childProcess.ts';
import { openSampleServer, createSampleTarget } from '../../../test/sampleServer.ts';
import type { StdioTarget } from '../target.ts';
import type { JsonObject } from '../upstream.ts';

const rigs: ChannelRig[] = [];
afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.closeAll()));
});
function createRig(...args: Parameters<typeof createChannelRig>): ChannelRig {
  const rig = createChannelRig(...args);
  rigs.push(rig);
  return rig;
}
const nodeTarget = (script: string): StdioTarget => ({ ...scriptedTarget(), args: ['-e', script] });

describe('a stdio upstream', () => {
  test('the reference server lists its tools and echoes', async () => {
    const upstream = await createRig().open(createSampleTarget());
    const { tools } = (await sendRequest(upstream, 'tools/list')) as {
      tools: { name: string; inputSchema: JsonObject }[];
    };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['echo', 'get-env', 'gzip-file-as-resource']),
    );
    expect(tools.find(({ name }) => name === 'echo')?.inputSchema).toMatchObject({ type: 'object' });
    expect(await callChannelTool(upstream, 'echo', { message: 'hello' })).toMatchObject({
      content: [{ type: 'text', text: 'Echo: hello' }],
    });
  });

  test('a caller who gives up is released, the server is told and goes on', async () => {
    const upstream = await createRig().open(scriptedTarget());
    const controller = new AbortController();
    const reason = new Error('gave up');
    const slow = callChannelTool(upstream, 'hang', {}, { signal: controller.signal });
    controller.abort(reason);
    await expect(slow).rejects.toBe(reason);
    expect(await callChannelTool(upstream, 'echo', { message: 'still here' })).toMatchObject({
      content: [{ text: 'still here' }],
    });
    const seen = await receivedBy(upstream);
    const hanging = seen.find(({ params }) => (params as JsonObject)['name'] === 'hang');
    expect(seen.find(({ method }) => method === 'notifications/cancelled')).toMatchObject({
      params: { requestId: hanging!['id'] },
    });
  });

  test('the end of the server rejects what waits and is told once, also to who asks late', async () => {
    const upstream = await createRig().open(createSampleTarget());
    const received: string[] = [];
    upstream.onClose(() => received.push('early'));
    const waiting = callChannelTool(upstream, 'trigger-long-running-operation', { duration: 60, steps: 1 });
    const rejected = expect(waiting).rejects.toMatchObject({ reason: 'reset' });
    await upstream.close();
    await rejected;
    await eventually('the end to be told', () => received.length === 1);
    upstream.onClose(() => received.push('late'));
    expect(received).toEqual(['early', 'late']);
    await expect(callChannelTool(upstream, 'echo', { message: 'x' })).rejects.toMatchObject({
      reason: 'ended',
    });
  });

  test('killed during a call: the call may have run, the next one was not sent, a new child works', async () => {
    const rig = createRig();
    const upstream = await rig.open(scriptedTarget());
    const hanging = expect(callChannelTool(upstream, 'hang')).rejects.toMatchObject({
      reason: 'reset',
      outcome: 'unknown',
      code: 'MCP_OUTCOME_UNCERTAIN',
    });
    process.kill(await readPid(upstream), 'SIGKILL');
    await hanging;
    await expect(callChannelTool(upstream, 'echo')).rejects.toMatchObject({
      reason: 'ended',
      outcome: 'unreachable',
    });
    const reopened = await rig.open(scriptedTarget());
    expect(await callChannelTool(reopened, 'echo', { message: 'again' })).toMatchObject({
      content: [{ text: 'again' }],
    });
    await expect(callChannelTool(reopened, 'exit')).rejects.toMatchObject({ reason: 'reset' });
  });

  test('noise between the answers changes none of them', async () => {
    const upstream = await createRig().open(scriptedTarget());
    expect(await callChannelTool(upstream, 'garble')).toMatchObject({
      content: [{ text: 'after the noise' }],
    });
    expect(await callChannelTool(upstream, 'odd')).toEqual({
      content: [{ type: 'hologram', depth: 3 }],
      novel: { a: [1] },
      _meta: { 'x/y': 1 },
    });
    expect(await callChannelTool(upstream, 'refuse')).toEqual({
      content: [{ type: 'text', text: 'no' }],
      isError: true,
    });
    await expect(callChannelTool(upstream, 'error')).rejects.toMatchObject({
      reason: 'rpc_error',
      detail: { rpc: { code: -32603, message: 'planted-upstream-words' } },
    });
  });

  test('a pattern that never ends is not run on a result', async () => {
    const upstream = await createRig().open(scriptedTarget());
    await sendRequest(upstream, 'tools/list');
    expect(await callChannelTool(upstream, 'hostile')).toMatchObject({
      structuredContent: { text: expect.any(String) as unknown },
    });
  });

  test('what a shared server asks and logs during one call reaches no other', async () => {
    const rig = createRig();
    const upstream = await rig.open(scriptedTarget());
    const received: string[] = [];
    const hearing = (who: string) => ({
      onLog: () => received.push(`${who} log`),
      onProgress: () => received.push(`${who} progress`),
    });
    const hanging = new AbortController();
    const b = callChannelTool(upstream, 'hang', {}, { ...hearing('b'), signal: hanging.signal }).catch(
      () => 'given up',
    );
    const a = (await callChannelTool(upstream, 'talk', { message: 'a-secret' }, hearing('a'))) as {
      structuredContent: JsonObject;
    };
    expect(a.structuredContent).toMatchObject({
      elicited: { action: 'cancel' },
      sampled: { error: { code: -32601 } },
      roots: { error: { code: -32601 } },
      pong: {},
    });
    expect(received).toEqual(['a progress']);
    expect(rig.logged).toEqual([
      { event: 'upstream_server_log', fields: { server: 'test', level: 'warning', logger: 'talk' } },
    ]);
    expect(JSON.stringify(rig.logged)).not.toContain('a-secret');
    hanging.abort();
    expect(await b).toBe('given up');
  });

  test('a changed list is heard, in either era', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const upstream = await createRig().open(scriptedTarget({ ERA: era }), { era });
      expect(upstream.claims).toMatchObject({ era, name: 'scripted' });
      const received: string[] = [];
      const stop = upstream.listen(({ method }) => received.push(method), {});
      await callChannelTool(upstream, 'change');
      expect(received).toEqual(['notifications/tools/list_changed']);
      stop();
    }
  });
});

describe('opening a stdio upstream', () => {
  test('a command that is none, or no server, is an error', async () => {
    await expect(openSampleServer({ command: '/no/such/command' })).rejects.toMatchObject({
      reason: 'connect_failed',
      outcome: 'unreachable',
      detail: { cause: { code: 'ENOENT' } },
    });
    await expect(openSampleServer({ command: '/no/such/command' }, { era: 'auto' })).rejects.toMatchObject({
      reason: 'connect_failed',
    });
    for (const era of ['legacy', 'auto', 'modern'] as const)
      await expect(openSampleServer({ args: ['-e', 'process.exit(1)'] }, { era })).rejects.toMatchObject({
        reason: 'connect_failed',
      });
  });

  test('a server that never answers can be given up, and is gone then', async () => {
    for (const era of ['legacy', 'auto'] as const) {
      const rig = createRig();
      const controller = new AbortController();
      const reason = new Error('shutting down');
      const script = `process.stderr.write(process.pid + '\\n'); process.on('SIGTERM', () => {}); ${keepAliveScript}`;
      const opening = rig.open(nodeTarget(script), { signal: controller.signal, era });
      const rejected = expect(opening).rejects.toBe(reason);
      if (era === 'legacy') {
        const line = await eventually('the child to start', () => rig.stderr[0]);
        controller.abort(reason);
        await rejected;
        expect(isProcessAlive(Number(line.replace('test: ', '')))).toBe(false);
      } else {
        controller.abort(reason);
        await rejected;
      }
    }
  });

  test('the whole opening has one limit, the probe included', async () => {
    for (const era of ['legacy', 'auto'] as const) {
      const clock = createFakeClock();
      const rig = createRig({ clock });
      const opening = rig.open(scriptedTarget({ INIT: 'hang', PROBE: 'silent' }), {
        era,
        initTimeoutMs: 1_000,
      });
      let ended = false;
      const rejected = opening.then(
        () => 'opened',
        (error: unknown) => ((ended = true), (error as { reason: string }).reason),
      );
      await clock.advance(999);
      expect(ended).toBe(false);
      await clock.advance(1);
      expect(await rejected).toBe('connect_timeout');
    }
  });
});

describe('the era of a stdio server', () => {
  /** How often a process of this command was started, by what its environment makes it write. */
  const counted = async (
    env: Record<string, string>,
    work: (target: StdioTarget, starts: () => Promise<number>) => Promise<void>,
  ) => {
    const folder = await mkdtemp(join(tmpdir(), 'behalf-stdio-'));
    const file = join(folder, 'starts');
    const { args } = scriptedTarget();
    const script = `
      require('node:fs').appendFileSync(${JSON.stringify(file)}, 'x');
      import(${JSON.stringify(`file://${args[0]!}`)});`;
    try {
      await work(
        { ...scriptedTarget(env), args: ['-e', script] },
        async () => (await readFile(file, 'utf8')).length,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  };

  test('is asked of a sibling, once for everybody who opens it', async () => {
    await counted({ PROBE: 'exit' }, async (target, starts) => {
      const rig = createRig();
      const first = await Promise.all([1, 2, 3].map(() => rig.open(target, { era: 'auto' })));
      expect(first.map(({ claims }) => claims.era)).toEqual(['legacy', 'legacy', 'legacy']);
      expect(await starts()).toBe(4);
      const later = await rig.open(target, { era: 'auto' });
      expect(await starts()).toBe(5);
      expect((await receivedBy(later)).map(({ method }) => method)).toEqual([
        'initialize',
        'notifications/initialized',
        'tools/call',
      ]);
    });
  });

  test('a modern server is spoken to in its own revision', async () => {
    await counted({ ERA: 'modern' }, async (target, starts) => {
      const upstream = await createRig().open(target, { era: 'auto' });
      expect(upstream.claims).toMatchObject({
        era: 'modern',
        protocolVersion: '2026-07-28',
        name: 'scripted',
      });
      expect(await starts()).toBe(2);
      expect(await callChannelTool(upstream, 'echo', { message: 'hi' })).toMatchObject({
        content: [{ text: 'hi' }],
      });
    });
  });

  test('silence for two seconds means legacy, for a day', async () => {
    await counted({ PROBE: 'silent' }, async (target, starts) => {
      const clock = createFakeClock();
      const rig = createRig({ clock });
      const openAfter = async (ms: number) => {
        const opening = rig.open(target, { era: 'auto' });
        await eventually('the probe to be over', async () => {
          await clock.advance(ms);
          return Promise.race([
            opening.then(() => true),
            new Promise((resolve) => setTimeout(resolve, 20, false)),
          ]);
        });
        return opening;
      };
      expect((await openAfter(100)).claims.era).toBe('legacy');
      expect(await starts()).toBe(2);
      await openAfter(0);
      expect(await starts()).toBe(3);
      await clock.advance(24 * 60 * 60 * 1_000);
      await openAfter(100);
      expect(await starts()).toBe(5);
    });
  });

  test('what the definition says is not asked', async () => {
    await counted({ PROBE: 'exit' }, async (target, starts) => {
      const rig = createRig();
      expect((await rig.open(target, { era: 'legacy' })).claims.era).toBe('legacy');
      expect(await starts()).toBe(1);
    });
    const rig = createRig();
    await expect(rig.open(scriptedTarget(), { era: 'modern' })).rejects.toMatchObject({
      reason: 'bad_request',
    });
  });
});
