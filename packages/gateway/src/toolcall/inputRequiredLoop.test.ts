import { afterEach, describe, expect, test } from '@jest/globals';
import type { Cancellation } from '@behalf/kernel';
import { eventually, scriptedError, type ScriptedTool } from '@behalf/testkit';
import { createRecordingPeer, createRelayRig, stopRelayRigs } from '../../test/relayRig.ts';
import { captureRejection } from '../../test/toolcallRig.ts';
import { ClientRpcError } from '../upstream/dialogue.ts';
import type { JsonObject } from '../upstream/upstream.ts';

afterEach(stopRelayRigs);

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign here', url: 'https://sign.example/1' };
const accepted = { action: 'accept', content: { name: 'Ann' } };
const elicit = (params: JsonObject) => ({ method: 'elicitation/create', params });

const repliesOf = ({ result }: { result: JsonObject }) =>
  JSON.parse((result['content'] as [{ text: string }])[0].text) as unknown[];

/** Asks so many times, each time with another state, and then tells what it got. */
const asking = (rounds: number, inputRequests: JsonObject): ScriptedTool => ({
  name: 'asks',
  handler(_, { params: { requestState, inputResponses } }) {
    const round = typeof requestState === 'string' ? Number(requestState.split(' ')[1]) : 0;
    if (round >= rounds) return text([inputResponses, requestState]);
    return { resultType: 'input_required', inputRequests, requestState: `round ${round + 1} "ü" \\` };
  },
});

describe('a legacy caller of a modern server', () => {
  test('is asked in its call, and the server gets the answers', async () => {
    const relayOptions = { definition: { relay: ['sampling', 'roots'] } };
    const questions = {
      name: elicit(form),
      model: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } },
      folders: { method: 'roots/list' },
    };
    const { call, server, rig } = await createRelayRig(
      { era: 'modern', tools: [asking(2, questions)] },
      relayOptions,
    );
    const { peer, requests } = createRecordingPeer(accepted);
    const answers = { name: accepted, model: accepted, folders: accepted };
    expect(repliesOf(await call('asks', { peer }))).toEqual([answers, 'round 2 "ü" \\']);
    expect(requests.map(({ method }) => method)).toEqual(
      [...Object.values(questions), ...Object.values(questions)].map(({ method }) => method),
    );
    const ids = server.received('tools/call').map(({ message }) => message!.id);
    expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
    expect(rig.audited.map(({ outcome }) => outcome)).toEqual(['ok']);
  });

  test('is asked in eight rounds at most', async () => {
    const { call, server } = await createRelayRig({
      era: 'modern',
      tools: [asking(9, { one: elicit(form) })],
    });
    const { peer, requests } = createRecordingPeer(accepted);
    expect(await captureRejection(call('asks', { peer }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
    expect([requests.length, server.received('tools/call').length]).toEqual([8, 9]);
  });

  test('and sixteen questions', async () => {
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`q${index}`, elicit(form)]));
    const { call } = await createRelayRig({ era: 'modern', tools: [asking(2, many)] });
    const { peer, requests } = createRecordingPeer(accepted);
    expect(await captureRejection(call('asks', { peer }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
    expect(requests).toHaveLength(9);
  });

  test('that does not answer has closed the form', async () => {
    const { call } = await createRelayRig(
      { era: 'modern', tools: [asking(1, { one: elicit(form) })] },
      { definition: { relay: ['sampling'] } },
    );
    const refusing = createRecordingPeer(() => Promise.reject(new ClientRpcError(-1, 'No'))).peer;
    expect(repliesOf(await call('asks', { peer: refusing }))[0]).toEqual({ one: { action: 'cancel' } });
  });

  test('that does not lend its model ends the call', async () => {
    const model = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };
    const { call, server } = await createRelayRig(
      { era: 'modern', tools: [asking(1, { one: elicit(form), two: model })] },
      { definition: { relay: ['sampling'] } },
    );
    const signals: { aborted: boolean }[] = [];
    const peer = {
      ...createRecordingPeer({}).peer,
      sendRequest: (method: string, _params: JsonObject, signal: { aborted: boolean }) => {
        signals.push(signal);
        return method === 'roots/list' || method === 'elicitation/create'
          ? new Promise<never>(() => undefined)
          : Promise.reject(new ClientRpcError(-1, 'No'));
      },
    };
    expect(await captureRejection(call('asks', { peer }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
    expect(server.received('tools/call')).toHaveLength(1);
    await eventually('the other question is taken back', () => signals.every(({ aborted }) => aborted));
  });

  test('that cannot be sent to a page is told its address', async () => {
    const { call, server } = await createRelayRig({
      era: 'modern',
      tools: [asking(1, { one: elicit(page) })],
    });
    const opened = createRecordingPeer({ action: 'accept' });
    expect(repliesOf(await call('asks', { peer: opened.peer }))[0]).toEqual({ one: { action: 'accept' } });
    const { sendRequest: _ask, ...plain } = createRecordingPeer({}).peer;
    for (const peer of [createRecordingPeer({}, { capabilities: { elicitation: {} } }).peer, plain]) {
      const { result } = await call('asks', { peer });
      expect(result['isError']).toBe(true);
      expect(JSON.stringify(result['content'])).toContain(page.url);
    }
    expect(server.received('tools/call')).toHaveLength(4);
  });

  test('that leaves while it is asked has ended the call', async () => {
    const { call, server } = await createRelayRig({
      era: 'modern',
      tools: [asking(1, { one: elicit(form) })],
    });
    const abortController = new AbortController();
    const peer = {
      ...createRecordingPeer({}).peer,
      async sendRequest(_method: string, _params: JsonObject, signal: Cancellation): Promise<never> {
        const left = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        abortController.abort();
        await left;
        throw signal.reason;
      },
    };
    expect(await captureRejection(call('asks', { peer, signal: abortController.signal }))).toMatchObject({
      name: 'AbortError',
    });
    expect(server.received('tools/call')).toHaveLength(1);
  });
});

describe('a modern caller of a legacy server', () => {
  test('gets the page that is wanted first as a question', async () => {
    const elicitations = [{ ...page, elicitationId: 'e1' }];
    const requestingTool: ScriptedTool = {
      name: 'wants',
      handler: () => {
        throw scriptedError(-32042, 'Open this', { elicitations });
      },
    };
    const { call } = await createRelayRig({ era: 'legacy', tools: [requestingTool] });
    const answer = await call('wants', { peer: createRecordingPeer({}, { era: 'modern' }).peer });
    const params = { ...page, message: 'The server “odd” asks: Sign here' };
    expect(answer).toEqual({
      kind: 'input_required',
      result: { inputRequests: { 'page-1': { method: 'elicitation/create', params } } },
    });
    const closed = { inputResponses: { 'page-1': { action: 'decline' } } };
    const peer = { ...createRecordingPeer({}, { era: 'modern' }).peer, retry: closed };
    expect(await captureRejection(call('wants', { peer }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
  });
});
