import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConversationsView, ConversationView } from '@behalf/contracts';
import { startScriptedModel, type ScriptedModel } from '@behalf/devidp/sample';
import { scriptedHttpServer, type ScriptedHttpServer } from '@behalf/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sendChat, callThenReport, createChatYaml, extractText } from './chatRig.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';
import { createUsers, connectUser, type TestUser } from './users.ts';
import { createPlantedSecrets } from './plantedSecrets.ts';
import { dumpStore } from './storeDump.ts';

const planted = createPlantedSecrets();
const key = planted.create('key of the model').replaceAll('=', '');
planted.add('key of the model', key);
const said = planted.create('what was said');
const toolSecret = planted.create('what a tool told');

let model: ScriptedModel;
let docs: ScriptedHttpServer;
let dataDir: string;
const opened: InProcessGateway[] = [];

beforeAll(async () => {
  model = await startScriptedModel({ script: () => ['Hello'], models: ['fetched', 'one'] });
  const handler = () => ({ content: [{ type: 'text', text: toolSecret }] });
  docs = await scriptedHttpServer({ era: 'modern', tools: [{ name: 'read', handler }] });
  dataDir = await mkdtemp(join(tmpdir(), 'behalf-chat-'));
});
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close();
});
afterAll(async () => {
  await model.close();
  await docs.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** One with a key, headers for each user and models that are asked for. */
function yaml(headers: Record<string, string> = {}): string {
  const endpoint = `{ name: Secret, baseURL: '${model.url}', apiKey: '\${MODEL_KEY}', models: { fetch: true, default: [one] }, headers: ${JSON.stringify(headers)}, addParams: { temperature: 0.5, messages: [], stream: false }, dropParams: [top_p] }`;
  return createChatYaml({ model: model.url, docs: docs.url }).replace(/- \{ name: Test.*\}/, `- ${endpoint}`);
}

async function start(text = yaml()): Promise<InProcessGateway> {
  const gateway = await startInProcess({ BEHALF_DATA_DIR: dataDir, MODEL_KEY: key }, text, undefined, null);
  opened.push(gateway);
  return gateway;
}

let number = 0;
async function createUserWithKey(gateway: InProcessGateway): Promise<TestUser> {
  number += 1;
  return (await createUsers({ url: gateway.url, dataDir }, [`Somebody${number}`]))[0]!;
}

describe('what a chat holds', () => {
  test('the key of a model is in its requests, and nowhere else', async () => {
    const gateway = await start();
    const ada = await createUserWithKey(gateway);
    const answers: string[] = [];
    for (const script of [() => ['fine'], () => [{ status: 401, body: { error: { message: key } } }]]) {
      model.setScript(script);
      const stream = await sendChat(ada, { text: 'hello' });
      await stream.waitUntilDone();
      answers.push(JSON.stringify([stream.events, [...stream.headers]]));
      answers.push(await (await ada.get(`/api/chat/${stream.conversationId}`)).text());
    }
    answers.push(await (await ada.get('/api/chat/models')).text());
    expect(model.requests.at(-1)!.headers.authorization).toBe(`Bearer ${key}`);
    const everywhere = [...answers, JSON.stringify(gateway.logged), await dumpStore({ dataDir })].join('\n');
    expect(planted.findIn(everywhere)).toEqual([]);
    expect(everywhere).toContain('MODEL_REFUSED');
  });

  test('what was said, called and titled is sealed in the store', async () => {
    const gateway = await start();
    const ada = await createUserWithKey(gateway);
    model.setScript(callThenReport({ name: 'read_mcp_docs', args: { note: said } }));
    const stream = await sendChat(ada, { text: said });
    const { conversation, message } = await stream.waitUntilDone();
    expect(JSON.stringify([conversation, message])).toContain(toolSecret);
    const dump = await dumpStore({ dataDir });
    expect(planted.findIn(dump)).toEqual([]);
    // Who looks in the same way finds what is no secret.
    expect(dump).toContain(stream.conversationId);
    expect(planted.findIn(JSON.stringify(gateway.logged))).toEqual([]);
  });

  test('headers of a model are filled in for who is calling', async () => {
    const gateway = await start(
      yaml({ 'X-User': '{{LIBRECHAT_USER_ID}}', 'X-Chat': '{{LIBRECHAT_BODY_CONVERSATIONID}}' }),
    );
    const ada = await createUserWithKey(gateway);
    model.setScript(() => ['ok']);
    const stream = await sendChat(ada, { text: 'hello' });
    await stream.waitUntilDone();
    const { headers, body } = model.requests.at(-1)!;
    expect([headers['x-user'], headers['x-chat']]).toEqual([ada.id, stream.conversationId]);
    // Nothing about this machine, and nothing of the environment.
    expect(Object.keys(headers).filter((name) => /stainless|organization|project/.test(name))).toEqual([]);
    expect(headers['user-agent']).toMatch(/^behalf\//);
    expect(body).toMatchObject({ temperature: 0.5, stream: true, model: 'one' });
    expect(body['messages']).not.toEqual([]);
  });

  test('a header that cannot be filled in is never sent as it is written', async () => {
    const gateway = await start(yaml({ 'X-Token': 'Bearer {{LIBRECHAT_OPENID_ACCESS_TOKEN}}' }));
    const ada = await createUserWithKey(gateway);
    const requestCount = model.requests.length;
    const stream = await sendChat(ada, { text: 'hello' });
    await stream.waitUntilDone();
    const { problem } = await stream.waitForEvent('error');
    expect(problem.code).toBe('MODEL_REFUSED');
    expect(problem.detail).toContain('X-Token');
    expect(problem.detail).toContain('{{LIBRECHAT_OPENID_ACCESS_TOKEN}}');
    expect(model.requests).toHaveLength(requestCount);
  });

  test('models are asked for once, and without them those of the file are left', async () => {
    const before = model.listCount;
    const gateway = await start();
    const ada = await createUserWithKey(gateway);
    const list = async () => await (await ada.get('/api/chat/models')).json();
    const endpoints = [{ name: 'Secret', models: ['one', 'fetched'] }];
    expect(await Promise.all([list(), list()])).toEqual([{ endpoints }, { endpoints }]);
    expect(await list()).toEqual({ endpoints });
    expect(model.listCount).toBe(before + 1);
    model.setScript(({ model: name }) => [name]);
    const stream = await sendChat(ada, { text: 'who?', model: 'fetched' });
    expect(extractText((await stream.waitUntilDone()).message)).toBe('fetched');
    const down = await start(yaml().replaceAll(model.url, 'http://127.0.0.1:1/v1'));
    const there = connectUser(down.url, ada.id, ada.cookie.slice(ada.cookie.indexOf('=') + 1));
    expect(await (await there.get('/api/chat/models')).json()).toEqual({
      endpoints: [{ name: 'Secret', models: ['one'] }],
    });
  });

  test('what was said is kept when the gateway ends', async () => {
    const gateway = await start();
    const ada = await createUserWithKey(gateway);
    model.setScript(() => ['Once upon a time', { until: new Promise(() => undefined) }]);
    const stream = await sendChat(ada, { text: 'a story' });
    await stream.waitForEvent('text');
    opened.splice(opened.indexOf(gateway), 1);
    await gateway.close();
    const again = await start();
    const there = connectUser(again.url, ada.id, ada.cookie.slice(ada.cookie.indexOf('=') + 1));
    const view = (await (await there.get(`/api/chat/${stream.conversationId}`)).json()) as ConversationView;
    expect(view.isRunning).toBe(false);
    expect(extractText(view.messages[1]!)).toBe('Once upon a time');
    const [, answer] = view.messages;
    // The connection may have been cut before or after the answer was ended.
    expect(answer?.role === 'assistant' && ['stopped', 'error'].includes(answer.finish ?? '')).toBe(true);
    const { conversations } = (await (await there.get('/api/chat')).json()) as ConversationsView;
    expect(conversations).toHaveLength(1);
  });
});
