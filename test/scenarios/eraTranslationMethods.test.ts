import { eventually, scriptedError, type ScriptedCall, type ScriptedOptions } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import {
  createLegacyClient,
  sendModern,
  createWireClient,
  type WireMessage,
  type WireClient,
} from './mcpClient.ts';
import { readStream } from './mcpStream.ts';
import type { TestUser } from './users.ts';
import { createGatewayRig } from './gatewayRig.ts';
import { httpDefinition, renderYaml } from './serverYaml.ts';

type Json = Readonly<Record<string, unknown>>;
type Answering = (params: Json, call: ScriptedCall) => Promise<string> | string | Json;

const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign', url: 'https://sign.example/1' };
const capabilities = { elicitation: { form: {}, url: {} } };
const accepted = { action: 'accept', content: { name: 'Ada' } };

/** The three that a server may ask something in, as they are called at the endpoint of all servers. */
const requests = [
  ['tools/call', { name: 'files__asking', arguments: {} }],
  ['prompts/get', { name: 'files__asking' }],
  ['resources/read', { uri: 'file:///asking' }],
] as const;

/** A server that answers all three with one text, by one function. */
function threeKinds(era: 'legacy' | 'modern', answering: Answering): ScriptedOptions {
  const through =
    (wrap: (text: string) => Json) =>
    async (params: Json, call: ScriptedCall): Promise<Json> => {
      const response = await answering(params, call);
      return typeof response === 'string' ? wrap(response) : response;
    };
  const content = (text: string) => ({ type: 'text', text });
  const tool = through((text) => ({ content: [content(text)] }));
  return {
    era,
    capabilities: { tools: {}, prompts: {}, resources: {} },
    tools: [{ name: 'asking', handler: (_, call) => tool(call.params, call) }],
    methods: {
      'prompts/list': () => ({ prompts: [{ name: 'asking' }] }),
      'prompts/get': through((text) => ({ messages: [{ role: 'user', content: content(text) }] })),
      'resources/list': () => ({ resources: [{ uri: 'file:///asking', name: 'asking' }] }),
      'resources/templates/list': () => ({ resourceTemplates: [] }),
      'resources/read': through((text) => ({ contents: [{ uri: 'file:///asking', text }] })),
    },
  };
}

describe('tools, prompts and resources between the eras', () => {
  const rig = createGatewayRig();

  async function begin(options: ScriptedOptions) {
    const upstream = await rig.startServer(options);
    const [ada] = (await rig.start(renderYaml({ files: httpDefinition(upstream.url) }))) as [TestUser];
    return { upstream, client: await createWireClient(ada, rig.gateway.url) };
  }
  const ask = (client: WireClient, method: string, params: Json, more: Json = {}) =>
    sendModern(client, method, { ...params, ...more }, { capabilities });

  /** What was asked: its key, the question, and what is to be sent back with the answer. */
  function askedIn({ result }: WireMessage) {
    const { resultType, inputRequests, requestState } = result as Json;
    expect(resultType).toBe('input_required');
    const [[key, question], ...others] = Object.entries(inputRequests as Json) as [[string, Json]];
    expect(others).toEqual([]);
    return {
      question,
      back: { inputResponses: { [key]: accepted }, ...(requestState !== undefined && { requestState }) },
    };
  }

  test('a prompt and a resource as much as a tool', async () => {
    const { client, upstream } = await begin(
      threeKinds('legacy', async (_, call) =>
        JSON.stringify((await call.sendRequest('elicitation/create', form)).result),
      ),
    );
    for (const [method, params] of requests) {
      const { question, back } = askedIn((await ask(client, method, params)).message);
      expect(question).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } });
      const { message } = await ask(client, method, params, back);
      expect([method, message.result?.['resultType']]).toEqual([method, 'complete']);
      expect(JSON.stringify(message.result)).toContain('Ada');
      expect(upstream.received(method)).toHaveLength(1);
    }
  });

  test('at the endpoint: told once, opened, and asked again', async () => {
    let opened = false;
    const { client, upstream } = await begin(
      threeKinds('legacy', () => {
        if (opened) return 'welcome';
        throw scriptedError(-32042, 'Open this', { elicitations: [{ ...page, elicitationId: 'theirs' }] });
      }),
    );
    for (const [method, params] of requests) {
      opened = false;
      const { message: first } = await ask(client, method, params);
      const { question, back } = askedIn(first);
      expect(question).toMatchObject({
        method: 'elicitation/create',
        params: { mode: 'url', url: page.url },
      });
      // The number is the other era's, and so is the name by which its end would be told.
      expect(JSON.stringify(first)).not.toMatch(/-32042|theirs/);
      opened = true;
      const { message } = await ask(client, method, params, back);
      expect([method, message.result?.['resultType']]).toEqual([method, 'complete']);
      expect(JSON.stringify(message.result)).toContain('welcome');
      expect(upstream.received(method)).toHaveLength(2);
    }
  });

  test('in a prompt and a resource as much as in a tool', async () => {
    const inputRequests = { one: { method: 'elicitation/create', params: form } };
    const { client, upstream } = await begin(
      threeKinds('modern', ({ inputResponses, requestState }) =>
        inputResponses === undefined
          ? { resultType: 'input_required', inputRequests, requestState: 'its own' }
          : JSON.stringify([inputResponses, requestState]),
      ),
    );
    const session = await createLegacyClient(client, { capabilities });
    for (const [index, [method, params]] of requests.entries()) {
      const id = 100 + index;
      const stream = readStream(await session.post({ jsonrpc: '2.0', id, method, params }));
      await eventually('it is asked', () => stream.messages.length === 1);
      const [{ id: question, method: kind } = {}] = stream.messages;
      expect([method, kind]).toEqual([method, 'elicitation/create']);
      expect((await session.post({ jsonrpc: '2.0', id: question, result: accepted })).status).toBe(202);
      await eventually('it is answered', () => stream.isEnded);
      expect(stream.messages[1]?.id).toBe(id);
      const serialized = JSON.stringify(stream.messages[1]?.result);
      expect([serialized.includes('Ada'), serialized.includes('its own')]).toEqual([true, true]);
      expect(serialized).not.toMatch(/resultType|input_required/);
      expect(upstream.received(method)).toHaveLength(2);
    }
  });
});
