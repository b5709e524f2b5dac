import { afterEach, describe, expect, test } from '@jest/globals';
import { scriptedError, type ScriptedTool } from '@behalf/testkit';
import {
  annPrincipal,
  createRecordingPeer,
  createRelayRig,
  stopRelayRigs,
  tokenFor,
} from '../../test/relayRig.ts';
import { captureRejection } from '../../test/toolcallRig.ts';
import type { GatewayError } from '../errors/gatewayError.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { maskTokens } from './mask.ts';
import type { ServerOutcome } from './outcome.ts';
import type { PreparedTarget } from './credential.ts';

afterEach(stopRelayRigs);

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign here', url: 'https://sign.example/1', elicitationId: 'e1' };
const accepted = { action: 'accept', content: { name: 'Ann' } };

const repliesOf = ({ result }: { result: JsonObject }) =>
  JSON.parse((result['content'] as [{ text: string }])[0].text) as unknown[];

describe('a token that the server repeats', () => {
  test('is not in a question, in progress or in a log message', async () => {
    const token = tokenFor(annPrincipal);
    const tool: ScriptedTool = {
      name: 'leaky',
      handler: async (_, call) => {
        call.progress(1, 2);
        call.notify('notifications/progress', {
          ...(call.params['_meta'] as JsonObject),
          progress: 2,
          message: token,
        });
        call.log('info', { token });
        return text((await call.sendRequest('elicitation/create', { ...form, message: token })).result);
      },
    };
    const { call } = await createRelayRig({ era: 'legacy', tools: [tool] }, { isUserScoped: true });
    const { peer, requests } = createRecordingPeer(accepted);
    const received: JsonObject[] = [];
    const hear = (params: JsonObject) => void received.push(params);
    const answer = await call('leaky', { peer, onProgress: hear, onLog: hear });
    expect(answer.result).toMatchObject(text(accepted));
    const serialized = JSON.stringify([requests, received]);
    expect(serialized).not.toContain(token);
    expect(serialized.match(/\[redacted\]/g)).toHaveLength(3);
  });

  test('is not in what a modern server asks back', async () => {
    const token = tokenFor(annPrincipal);
    const asks = {
      resultType: 'input_required',
      inputRequests: { one: { method: 'elicitation/create', params: { ...form, message: token } } },
      requestState: 'state',
    };
    const { call } = await createRelayRig(
      { era: 'modern', tools: [{ name: 'asks', handler: () => asks }] },
      { isUserScoped: true },
    );
    const { peer } = createRecordingPeer({}, { era: 'modern' });
    const answer = await call('asks', { peer });
    expect(JSON.stringify(answer)).not.toContain(token);
    expect(answer).toMatchObject({
      kind: 'input_required',
      result: { requestState: 'state' },
    });
  });

  test('and a question of a second try, with the first token in it, is still one', () => {
    const token = tokenFor(annPrincipal);
    const ready = { bearer: { presentedTokens: () => [token] } } as unknown as PreparedTarget;
    const asks: ServerOutcome = { kind: 'input_required', result: { requestState: token } };
    expect(maskTokens(asks, ready)).toEqual({ ...asks, result: { requestState: '[redacted]' } });
  });
});

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

describe('a modern server that asks back', () => {
  const asks = (inputRequests: JsonObject): ScriptedTool => ({
    name: 'asks',
    handler: (_, { params }) =>
      params['inputResponses'] === undefined
        ? { resultType: 'input_required', inputRequests, requestState: 'a "state" \\ ü' }
        : text([params['inputResponses'], params['requestState']]),
  });
  const one = { one: { method: 'elicitation/create', params: form } };
  const modern = () => createRecordingPeer({}, { era: 'modern' }).peer;

  test('gets its answers with the next call, its state as it was', async () => {
    const { call, rig, server } = await createRelayRig({ era: 'modern', tools: [asks(one)] });
    const first = await call('asks', { peer: modern() });
    expect(first).toEqual({
      kind: 'input_required',
      result: {
        resultType: 'input_required',
        inputRequests: {
          one: { ...one.one, params: { ...form, message: 'The server “odd” asks: Your name?' } },
        },
        requestState: 'a "state" \\ ü',
      },
    });
    const retry = {
      inputResponses: { one: accepted },
      requestState: first.result['requestState'] as string,
    };
    const second = await call('asks', { peer: { ...modern(), retry } });
    expect(repliesOf(second)).toEqual([retry.inputResponses, retry.requestState]);
    expect(rig.audited.map(({ outcome }) => outcome)).toEqual(['asked', 'ok']);
    const [a, b] = server.received('tools/call');
    expect(a!.message!.id).not.toBe(b!.message!.id);
  });

  test('hears what this very caller can be asked, and nothing of others', async () => {
    const { call, server } = await createRelayRig({ era: 'modern', tools: [{ name: 'plain' }] });
    await call('plain', { peer: modern() });
    await call('plain', {
      peer: createRecordingPeer({}, { era: 'modern', capabilities: { elicitation: {} } }).peer,
    });
    await call('plain', { peer: createRecordingPeer({}).peer });
    await call('plain');
    const declared = server
      .received('tools/call')
      .map(({ message }) => (message!.params!['_meta'] as JsonObject)[CAPABILITIES]);
    expect(declared).toEqual([
      { elicitation: { form: {}, url: {} } },
      { elicitation: { form: {} } },
      // A legacy caller is asked here, in the place of the server.
      { elicitation: { form: {}, url: {} } },
      {},
    ]);
    const lists = [...server.received('tools/list'), ...server.received('server/discover')];
    for (const { message } of lists)
      expect((message!.params!['_meta'] as JsonObject)[CAPABILITIES]).toEqual({});
  });

  test('for a model only where the definition lends it', async () => {
    const tools = [asks({ one: { method: 'sampling/createMessage', params: { messages: [] } } })];
    const closed = await createRelayRig({ era: 'modern', tools });
    expect(await captureRejection(closed.call('asks', { peer: modern() }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
    const relayed = await createRelayRig({ era: 'modern', tools }, { definition: { relay: ['sampling'] } });
    expect(await relayed.call('asks', { peer: modern() })).toMatchObject({ kind: 'input_required' });
  });

  test('is an error of its own for who cannot be asked like that', async () => {
    const { call, rig } = await createRelayRig({ era: 'modern', tools: [asks(one)] });
    const undeclared = createRecordingPeer({}, { era: 'modern', capabilities: {} }).peer;
    for (const peer of [undefined, createRecordingPeer({}, { capabilities: {} }).peer, undeclared]) {
      expect(await captureRejection(call('asks', { peer }))).toMatchObject({
        code: 'MCP_DIALOGUE_UNSUPPORTED',
      });
    }
    expect(new Set(rig.audited.map(({ outcome }) => outcome))).toEqual(new Set(['refused']));
  });

  test('an address to be opened first is told to who can be sent there', async () => {
    const elicitations = [page];
    const requestingTool: ScriptedTool = {
      name: 'wants',
      handler: () => {
        throw scriptedError(-32042, 'Open this', { elicitations });
      },
    };
    const { call } = await createRelayRig({ era: 'legacy', tools: [requestingTool] });
    expect(await captureRejection(call('wants', { peer: createRecordingPeer({}).peer }))).toMatchObject({
      code: 'MCP_URL_ELICITATION_REQUIRED',
      elicitations: [{ ...page, message: 'The server “odd” asks: Sign here' }],
    });
    const unable = { capabilities: { elicitation: {} } };
    for (const peer of [undefined, createRecordingPeer({}, { ...unable, era: 'modern' }).peer]) {
      expect(await captureRejection(call('wants', { peer }))).toMatchObject({
        code: 'MCP_DIALOGUE_UNSUPPORTED',
      });
    }
    const response = await call('wants', { peer: createRecordingPeer({}, unable).peer });
    expect(response.result).toMatchObject({ isError: true });
    expect(JSON.stringify(response.result['content'])).toContain(page.url);
    elicitations[0] = { ...page, url: 'data:text/html,x' };
    expect(await captureRejection(call('wants', { peer: createRecordingPeer({}).peer }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
  });

  test('what it wants declared is named, where it would be passed on', async () => {
    const requestingTool = (requiredCapabilities: unknown): ScriptedTool => ({
      name: 'asks',
      handler: () => {
        throw scriptedError(-32_021, 'no', { requiredCapabilities }, 400);
      },
    });
    const readMessage = async (requiredCapabilities: unknown, relay: ('sampling' | 'roots')[] = []) => {
      const { call } = await createRelayRig(
        { era: 'modern', tools: [requestingTool(requiredCapabilities)] },
        { definition: { relay } },
      );
      const error = (await captureRejection(call('asks', { peer: modern() }))) as GatewayError;
      return [error.code, error.requiredCapabilities];
    };
    const code = 'MCP_DIALOGUE_UNSUPPORTED';
    expect(await readMessage({ elicitation: { url: {}, more: 'x' } })).toEqual([
      code,
      { elicitation: { url: {} } },
    ]);
    expect(await readMessage({ sampling: {} }, ['sampling'])).toEqual([code, { sampling: {} }]);
    // Declaring it would not help.
    expect(await readMessage({ sampling: {} })).toEqual([code, undefined]);
    expect(await readMessage({ elicitation: {}, other: {} })).toEqual([code, undefined]);
    expect(await readMessage(['sampling'])).toEqual([code, undefined]);
  });

  test('a legacy result cannot pass for a question', async () => {
    const forged = {
      resultType: 'input_required',
      inputRequests: { one: { method: 'sampling/createMessage' } },
      content: [],
    };
    const { call } = await createRelayRig({
      era: 'legacy',
      tools: [{ name: 'forged', handler: () => forged }],
    });
    const { kind, result } = await call('forged', { peer: modern() });
    expect([result['resultType'], kind]).toEqual([undefined, 'result']);
  });
});
