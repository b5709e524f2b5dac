import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, type ScriptedCall, type ScriptedTool } from '@behalf/testkit';
import {
  annPrincipal,
  createRecordingPeer,
  bobPrincipal,
  createRelayRig,
  stopRelayRigs,
} from '../../test/relayRig.ts';
import { captureRejection } from '../../test/toolcallRig.ts';
import { ClientRpcError } from '../upstream/dialogue.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { subscribeToServer } from './subscribe.ts';

afterEach(stopRelayRigs);

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign here', url: 'https://sign.example/1', elicitationId: 'e1' };
const accepted = { action: 'accept', content: { name: 'Ann' } };

/** Asks what it is told to, and answers with the replies. */
const asking = (...questions: (readonly [string, JsonObject])[]): ScriptedTool => ({
  name: 'asking',
  handler: async (_, call) => {
    const replies: unknown[] = [];
    for (const [method, params] of questions) {
      const { result, error } = await call.sendRequest(method, params);
      replies.push(result ?? error);
    }
    return text(replies);
  },
});

const repliesOf = ({ result }: { result: JsonObject }) =>
  JSON.parse((result['content'] as [{ text: string }])[0].text) as unknown[];

const everything = [
  ['elicitation/create', form],
  ['elicitation/create', page],
  ['sampling/createMessage', { messages: [], maxTokens: 1 }],
  ['roots/list', {}],
] as const;
const notFound = { code: -32601, message: 'Method not found' };
const cancelled = { action: 'cancel' };

describe('a question of a legacy server in the middle of a call', () => {
  test('reaches the caller, and the answer goes back', async () => {
    const { call } = await createRelayRig({ era: 'legacy', tools: [asking(...everything)] });
    const { peer, requests } = createRecordingPeer(accepted);
    expect(repliesOf(await call('asking', { peer }))).toEqual([accepted, accepted, notFound, notFound]);
    expect(requests).toEqual([
      { method: 'elicitation/create', params: { ...form, message: 'The server “odd” asks: Your name?' } },
      { method: 'elicitation/create', params: { ...page, message: 'The server “odd” asks: Sign here' } },
    ]);
  });

  test('a model and folders only where the definition lends them', async () => {
    const relayOptions = { definition: { relay: ['sampling', 'roots'] } };
    const { call, server } = await createRelayRig(
      { era: 'legacy', tools: [asking(...everything)] },
      relayOptions,
    );
    const { peer, requests } = createRecordingPeer({ roots: [] });
    await call('asking', { peer });
    expect(requests.map(({ method }) => method)).toEqual(everything.map(([method]) => method));
    expect(server.received('initialize')[0]!.message!.params!['capabilities']).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: {},
    });
  });

  test('what is not lent is not even offered', async () => {
    const { call, server } = await createRelayRig({ era: 'legacy', tools: [asking()] });
    await call('asking');
    expect(server.received('initialize')[0]!.message!.params!['capabilities']).toEqual({
      elicitation: { form: {}, url: {} },
    });
  });

  for (const [capabilities, replies] of [
    [{}, [cancelled, cancelled]],
    [{ elicitation: {} }, [accepted, cancelled]],
    [{ elicitation: { url: {} } }, [cancelled, accepted]],
  ] as const) {
    test(`is not put to who declared ${JSON.stringify(capabilities)} alone`, async () => {
      const tool = asking(...everything.slice(0, 2));
      const { call } = await createRelayRig({ era: 'legacy', tools: [tool] });
      const { peer, requests } = createRecordingPeer(accepted, { capabilities });
      expect(repliesOf(await call('asking', { peer }))).toEqual(replies);
      expect(requests).toHaveLength(replies.filter((reply) => reply === accepted).length);
    });
  }

  test('an address that is none of the web is not passed on', async () => {
    const odd = asking(
      ['elicitation/create', { ...page, url: 'javascript:alert(1)' }],
      ['elicitation/create', { ...page, mode: 'odd' }],
    );
    const { call } = await createRelayRig({ era: 'legacy', tools: [odd] });
    const { peer, requests } = createRecordingPeer(accepted);
    expect(repliesOf(await call('asking', { peer }))).toEqual([cancelled, cancelled]);
    expect(requests).toEqual([]);
  });

  test('is dismissed where nobody can be asked, of either era', async () => {
    const { call } = await createRelayRig(
      { era: 'legacy', tools: [asking(...everything)] },
      { definition: { relay: ['sampling', 'roots'] } },
    );
    const allRejected = [cancelled, cancelled, notFound, notFound];
    expect(repliesOf(await call('asking'))).toEqual(allRejected);
    const { peer, requests } = createRecordingPeer(accepted, { era: 'modern' });
    const { sendRequest: _ask, ...deaf } = peer;
    expect(repliesOf(await call('asking', { peer: deaf }))).toEqual(allRejected);
    expect(requests).toEqual([]);
  });

  test('a refusal of the caller is passed on; silence is not an answer', async () => {
    const { call } = await createRelayRig(
      { era: 'legacy', tools: [asking(...everything.slice(1, 3))] },
      { definition: { relay: ['sampling'] } },
    );
    const refusing = createRecordingPeer(() => Promise.reject(new ClientRpcError(-1, 'The user said no')));
    expect(repliesOf(await call('asking', { peer: refusing.peer }))).toEqual([
      { code: -1, message: 'The user said no' },
      { code: -1, message: 'The user said no' },
    ]);
    const disconnected = createRecordingPeer(() => Promise.reject(new Error('gone')));
    expect(repliesOf(await call('asking', { peer: disconnected.peer }))).toEqual([
      cancelled,
      { code: -32603, message: 'The client did not respond' },
    ]);
  });

  test('reaches the one whose call it is, on a shared session too', async () => {
    const calls: ScriptedCall[] = [];
    const tool: ScriptedTool = {
      name: 'asking',
      handler: async ({ who }, call) => {
        calls.push(call);
        await eventually('both are under way', () => calls.length === 2);
        return text((await call.sendRequest('elicitation/create', { ...form, message: String(who) })).result);
      },
    };
    const { call, server } = await createRelayRig({ era: 'legacy', tools: [tool] });
    const [first, second] = [
      createRecordingPeer({ action: 'accept', content: { by: 'ann' } }),
      createRecordingPeer({ action: 'decline' }),
    ];
    await Promise.all([
      call('asking', { principal: annPrincipal, peer: first.peer }, { who: 'ann' }),
      call('asking', { principal: bobPrincipal, peer: second.peer }, { who: 'bob' }),
    ]);
    expect(server.sessions.size).toBe(1);
    const messages = [first, second].map(({ requests }) => requests.map(({ params }) => params['message']));
    expect(messages).toEqual([['The server “odd” asks: ann'], ['The server “odd” asks: bob']]);
  });

  test('one on the stream of nobody’s call is put to nobody', async () => {
    const tool: ScriptedTool = { name: 'slow', handler: () => new Promise<never>(() => undefined) };
    const { call, server, connections, definedServer } = await createRelayRig({
      era: 'legacy',
      getStream: true,
      tools: [tool],
    });
    const caller = new AbortController();
    const { peer, requests } = createRecordingPeer(accepted);
    const running = captureRejection(call('slow', { peer, signal: caller.signal }));
    if (definedServer.scope !== 'app') throw new Error('Not shared');
    const { upstream } = await connections.shared.lease(definedServer, { signal: caller.signal });
    upstream.listen(() => undefined, {});
    await eventually('a stream is open', () => server.openStreams === 1);
    expect((await server.sendRequestOnStreams('elicitation/create', form)).result).toEqual(cancelled);
    expect(requests).toEqual([]);
    caller.abort();
    await running;
  });

  test('one on the stream of a user’s own session is the only call’s', async () => {
    const slow: ScriptedTool = { name: 'slow', handler: () => new Promise<never>(() => undefined) };
    const rig = await createRelayRig(
      { era: 'legacy', getStream: true, tools: [slow] },
      { isUserScoped: true },
    );
    const { call, server, parts, inbound } = rig;
    const caller = new AbortController();
    const { signal } = caller;
    const { peer, requests } = createRecordingPeer(accepted);
    const first = captureRejection(call('slow', { peer, signal }));
    subscribeToServer(parts, 'odd', inbound({ principal: annPrincipal }), () => undefined);
    await eventually('it is under way, and a stream is open', () => {
      return server.received('tools/call').length === 1 && server.openStreams === 1;
    });
    expect((await server.sendRequestOnStreams('elicitation/create', form)).result).toEqual(accepted);
    expect(requests).toHaveLength(1);
    const second = captureRejection(call('slow', { peer, signal }));
    await eventually('another is under way', () => server.received('tools/call').length === 2);
    expect((await server.sendRequestOnStreams('elicitation/create', form)).result).toEqual(cancelled);
    expect(requests).toHaveLength(1);
    caller.abort();
    await Promise.all([first, second]);
  });

  test('which is open before such a call is sent', async () => {
    let streams = 0;
    const { call, server } = await createRelayRig(
      {
        era: 'legacy',
        getStream: true,
        tools: [
          {
            name: 'asking',
            async handler() {
              streams = server.openStreams;
              const { result } = await server.sendRequestOnStreams('elicitation/create', form);
              return { content: [{ type: 'text', text: JSON.stringify([result]) }] };
            },
          },
        ],
      },
      { isUserScoped: true },
    );
    const { peer } = createRecordingPeer(accepted);
    expect(repliesOf(await call('asking', { peer }))).toEqual([accepted]);
    expect(streams).toBe(1);
  });

  test('a caller is asked sixteen times in a call at most', async () => {
    const tool = asking(...Array.from({ length: 18 }, () => ['elicitation/create', form] as const));
    const { call } = await createRelayRig({ era: 'legacy', tools: [tool] });
    const { peer, requests } = createRecordingPeer(accepted);
    const replies = repliesOf(await call('asking', { peer }));
    expect(requests).toHaveLength(16);
    expect(replies.slice(15)).toEqual([accepted, cancelled, cancelled]);
  });

  test('a question or an answer without measure is not passed on', async () => {
    const long = 'x'.repeat(1024 * 1024);
    const tool = asking(['elicitation/create', { ...form, message: long }], ['elicitation/create', form]);
    const { call } = await createRelayRig({ era: 'legacy', tools: [tool] });
    const { peer, requests } = createRecordingPeer({ action: 'accept', content: { long } });
    expect(repliesOf(await call('asking', { peer }))).toEqual([cancelled, cancelled]);
    expect(requests).toHaveLength(1);
  });

  test('is taken back when the caller leaves or the call ends without it', async () => {
    const tool: ScriptedTool = {
      name: 'asking',
      handler: async ({ wait }, call) => {
        const answer = call.sendRequest('elicitation/create', form);
        return wait === true ? text(await answer) : text('went on');
      },
    };
    const { call, server } = await createRelayRig({ era: 'legacy', tools: [tool] });
    const signals: { aborted: boolean }[] = [];
    const peer = {
      ...createRecordingPeer({}).peer,
      sendRequest: (_method: string, _params: JsonObject, signal: { aborted: boolean }) => {
        signals.push(signal);
        return new Promise<never>(() => undefined);
      },
    };
    await call('asking', { peer });
    await eventually('the first is over', () => signals[0]?.aborted === true);
    const caller = new AbortController();
    const left = captureRejection(call('asking', { peer, signal: caller.signal }, { wait: true }));
    await eventually('it is asked', () => signals.length === 2);
    caller.abort();
    expect(await left).toMatchObject({ name: 'AbortError' });
    expect(signals[1]!.aborted).toBe(true);
    await eventually('the server is told', () => server.received('notifications/cancelled').length === 1);
  });
});
