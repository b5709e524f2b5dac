import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  sendRequest,
  callChannelTool,
  createChannelRig,
  remoteChannelTarget,
  type ChannelRig,
} from '../../../test/channelRig.ts';
import {
  createEverythingTarget,
  createFilesystemTarget,
  createMemoryTarget,
  startEverythingSse,
  startV1Sse,
  createV1Target,
  type ListeningServer,
} from '../../../test/referenceServers.ts';
import type { UpstreamTarget } from '../target.ts';
import type { JsonObject, Upstream } from '../upstream.ts';

const rigs: ChannelRig[] = [];
afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.closeAll()));
});
function open(target: UpstreamTarget, ports: readonly number[] = []): Promise<Upstream> {
  const rig = createChannelRig({ ports });
  rigs.push(rig);
  return rig.open(target, { era: 'auto' });
}
const namesOf = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);

/** Calls a tool that takes long, gives up after its first progress, and gives what the progress said. */
async function interrupted(upstream: Upstream, tool: string, args: JsonObject): Promise<JsonObject> {
  const controller = new AbortController();
  const reason = new Error('gave up');
  let first: JsonObject | undefined;
  const onProgress = (params: JsonObject) => {
    first ??= params;
    controller.abort(reason);
  };
  await expect(callChannelTool(upstream, tool, args, { onProgress, signal: controller.signal })).rejects.toBe(
    reason,
  );
  return first!;
}

async function exerciseEverything(upstream: Upstream): Promise<void> {
  const { tools } = await sendRequest(upstream, 'tools/list');
  expect(namesOf(tools)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-structured-content']));
  expect(await callChannelTool(upstream, 'get-sum', { a: 2, b: 3 })).toMatchObject({
    content: [{ type: 'text' }],
  });
  expect(await callChannelTool(upstream, 'get-structured-content', { location: 'Chicago' })).toMatchObject({
    structuredContent: { conditions: expect.any(String) as unknown },
  });
  expect(await callChannelTool(upstream, 'get-tiny-image')).toMatchObject({
    content: expect.arrayContaining([expect.objectContaining({ type: 'image' })]) as unknown,
  });
  // A tool that does not exist, or gets what it cannot take, is an error of the server in either form.
  expect(await callChannelTool(upstream, 'get-sum', { a: 'x' })).toMatchObject({ isError: true });
  const { resources } = (await sendRequest(upstream, 'resources/list')) as { resources: { uri: string }[] };
  const [{ uri }] = resources as [{ uri: string }];
  expect(await sendRequest(upstream, 'resources/read', { uri })).toMatchObject({ contents: [{ uri }] });
  const { prompts } = await sendRequest(upstream, 'prompts/list');
  expect(namesOf(prompts)).toContain('simple-prompt');
  expect(await sendRequest(upstream, 'prompts/get', { name: 'simple-prompt' })).toMatchObject({
    messages: [{ role: 'user' }],
  });
  const progress: unknown[] = [];
  await callChannelTool(
    upstream,
    'trigger-long-running-operation',
    { duration: 0.2, steps: 2 },
    { onProgress: (params) => progress.push(params['progress']) },
  );
  expect(progress).toEqual([1, 2]);
  await interrupted(upstream, 'trigger-long-running-operation', { duration: 2, steps: 20 });
  expect(await callChannelTool(upstream, 'echo', { message: 'still here' })).toMatchObject({
    content: [{ text: 'Echo: still here' }],
  });
}

async function exerciseFirst(upstream: Upstream): Promise<void> {
  expect(upstream.claims).toMatchObject({ era: 'legacy', name: 'first', instructions: 'Add, then rest.' });
  expect(namesOf((await sendRequest(upstream, 'tools/list'))['tools'])).toContain('add');
  expect(await callChannelTool(upstream, 'add', { a: 2, b: 3 })).toEqual({
    content: [{ type: 'text', text: '5' }],
    structuredContent: { sum: 5 },
  });
  expect(await callChannelTool(upstream, 'fail')).toMatchObject({
    isError: true,
    content: [{ text: 'it failed' }],
  });
  expect(await sendRequest(upstream, 'resources/read', { uri: 'note://one' })).toEqual({
    contents: [{ uri: 'note://one', text: 'a note' }],
  });
  expect(
    await sendRequest(upstream, 'prompts/get', { name: 'greet', arguments: { name: 'Ada' } }),
  ).toMatchObject({
    messages: [{ content: { text: 'Hello Ada' } }],
  });
  await expect(sendRequest(upstream, 'resources/read', { uri: 'note://two' })).rejects.toMatchObject({
    reason: 'rpc_error',
    outcome: 'failed',
  });
  expect(await interrupted(upstream, 'wait', {})).toMatchObject({ progress: 1, total: 2 });
  await eventually('the server to hear of it', async () => {
    const { content } = (await callChannelTool(upstream, 'cancelled')) as { content: { text: string }[] };
    return content[0]!.text === '1';
  });
}

describe('reference servers over stdio', () => {
  test('everything it offers works', async () => {
    await exerciseEverything(await open(createEverythingTarget()));
  });

  test('a server of the first SDK works', async () => {
    await exerciseFirst(await open(createV1Target()));
  });

  test('the file system and the memory server work', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'behalf-reference-'));
    try {
      await writeFile(join(folder, 'a.txt'), 'written here');
      const files = await open(createFilesystemTarget(folder));
      expect(namesOf((await sendRequest(files, 'tools/list'))['tools'])).toContain('read_text_file');
      expect(await callChannelTool(files, 'read_text_file', { path: join(folder, 'a.txt') })).toMatchObject({
        content: [{ text: 'written here' }],
      });
      expect(await callChannelTool(files, 'read_text_file', { path: '/etc/hostname' })).toMatchObject({
        isError: true,
      });

      const memory = await open(createMemoryTarget(join(folder, 'memory.jsonl')));
      const entity = { name: 'Ada', entityType: 'person', observations: ['wrote programs'] };
      await callChannelTool(memory, 'create_entities', { entities: [entity] });
      expect(await callChannelTool(memory, 'search_nodes', { query: 'Ada' })).toMatchObject({
        structuredContent: { entities: [{ name: 'Ada' }] },
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('reference servers over HTTP+SSE', () => {
  let everything: ListeningServer;
  let first: ListeningServer;
  beforeAll(async () => {
    [everything, first] = await Promise.all([startEverythingSse(), startV1Sse()]);
  }, 30_000);
  afterAll(async () => {
    await Promise.all([everything.close(), first.close()]);
  });

  test('everything it offers works', async () => {
    await exerciseEverything(await open(remoteChannelTarget('sse', everything.url), [everything.port]));
  });

  test('a server of the first SDK works', async () => {
    await exerciseFirst(await open(remoteChannelTarget('sse', first.url), [first.port]));
  });
});
