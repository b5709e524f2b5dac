import { afterEach, describe, expect } from '@jest/globals';
import { eventually, scriptedError, verifies, type ScriptedCall, type ScriptedTool } from '@behalf/testkit';
import { ann, askedPeer, bob, relayRig, stopRelayRigs, tokenOf } from '../../test/relayRig.ts';
import { rejection } from '../../test/toolcallRig.ts';
import { PeerRefusal } from '../upstream/dialogue.ts';
import type { Json } from '../upstream/upstream.ts';

afterEach(stopRelayRigs);

const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const form = { mode: 'form', message: 'Your name?', requestedSchema: { type: 'object', properties: {} } };
const page = { mode: 'url', message: 'Sign here', url: 'https://sign.example/1', elicitationId: 'e1' };
const accepted = { action: 'accept', content: { name: 'Ann' } };

/** Asks what it is told to, and answers with the replies. */
const asking = (...questions: (readonly [string, Json])[]): ScriptedTool => ({
  name: 'asking',
  handler: async (_, call) => {
    const replies: unknown[] = [];
    for (const [method, params] of questions) {
      const { result, error } = await call.ask(method, params);
      replies.push(result ?? error);
    }
    return text(replies);
  },
});

const repliesOf = ({ result }: { result: Json }) =>
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
  verifies('relay.legacy.elicitation', 'reaches the caller, and the answer goes back', async () => {
    const { call } = await relayRig({ era: 'legacy', tools: [asking(...everything)] });
    const { peer, asked } = askedPeer(accepted);
    expect(repliesOf(await call('asking', { peer }))).toEqual([accepted, accepted, notFound, notFound]);
    expect(asked).toEqual([
      { method: 'elicitation/create', params: { ...form, message: 'The server “odd” asks: Your name?' } },
      { method: 'elicitation/create', params: { ...page, message: 'The server “odd” asks: Sign here' } },
    ]);
  });

  verifies('relay.legacy.opt-in', 'a model and folders only where the definition lends them', async () => {
    const lent = { definition: { relay: ['sampling', 'roots'] } };
    const { call, server } = await relayRig({ era: 'legacy', tools: [asking(...everything)] }, lent);
    const { peer, asked } = askedPeer({ roots: [] });
    await call('asking', { peer });
    expect(asked.map(({ method }) => method)).toEqual(everything.map(([method]) => method));
    expect(server.received('initialize')[0]!.message!.params!['capabilities']).toEqual({
      elicitation: { form: {}, url: {} },
      sampling: {},
      roots: {},
    });
  });

  verifies('relay.legacy.opt-in', 'what is not lent is not even offered', async () => {
    const { call, server } = await relayRig({ era: 'legacy', tools: [asking()] });
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
    verifies(
      'relay.legacy.declared',
      `is not put to who declared ${JSON.stringify(capabilities)} alone`,
      async () => {
        const tool = asking(...everything.slice(0, 2));
        const { call } = await relayRig({ era: 'legacy', tools: [tool] });
        const { peer, asked } = askedPeer(accepted, { capabilities });
        expect(repliesOf(await call('asking', { peer }))).toEqual(replies);
        expect(asked).toHaveLength(replies.filter((reply) => reply === accepted).length);
      },
    );
  }

  verifies('relay.legacy.declared', 'an address that is none of the web is not passed on', async () => {
    const odd = asking(
      ['elicitation/create', { ...page, url: 'javascript:alert(1)' }],
      ['elicitation/create', { ...page, mode: 'odd' }],
    );
    const { call } = await relayRig({ era: 'legacy', tools: [odd] });
    const { peer, asked } = askedPeer(accepted);
    expect(repliesOf(await call('asking', { peer }))).toEqual([cancelled, cancelled]);
    expect(asked).toEqual([]);
  });

  verifies(
    'relay.legacy.nobody',
    'is dismissed where nobody can be asked, and at a modern caller',
    async () => {
      const { call } = await relayRig(
        { era: 'legacy', tools: [asking(...everything)] },
        { definition: { relay: ['sampling', 'roots'] } },
      );
      const nobody = [cancelled, cancelled, notFound, notFound];
      expect(repliesOf(await call('asking'))).toEqual(nobody);
      const { peer, asked } = askedPeer(accepted, { era: 'modern' });
      expect(repliesOf(await call('asking', { peer }))).toEqual(nobody);
      expect(asked).toEqual([]);
    },
  );

  verifies(
    'relay.legacy.refusal',
    'a refusal of the caller is passed on; silence is not an answer',
    async () => {
      const { call } = await relayRig(
        { era: 'legacy', tools: [asking(...everything.slice(1, 3))] },
        { definition: { relay: ['sampling'] } },
      );
      const refusing = askedPeer(() => Promise.reject(new PeerRefusal(-1, 'The user said no')));
      expect(repliesOf(await call('asking', { peer: refusing.peer }))).toEqual([
        { code: -1, message: 'The user said no' },
        { code: -1, message: 'The user said no' },
      ]);
      const gone = askedPeer(() => Promise.reject(new Error('gone')));
      expect(repliesOf(await call('asking', { peer: gone.peer }))).toEqual([
        cancelled,
        { code: -32603, message: 'The client did not answer' },
      ]);
    },
  );

  verifies('relay.legacy.own-call', 'reaches the one whose call it is, on a shared session too', async () => {
    const calls: ScriptedCall[] = [];
    const tool: ScriptedTool = {
      name: 'asking',
      handler: async ({ who }, call) => {
        calls.push(call);
        await eventually('both are under way', () => calls.length === 2);
        return text((await call.ask('elicitation/create', { ...form, message: String(who) })).result);
      },
    };
    const { call, server } = await relayRig({ era: 'legacy', tools: [tool] });
    const [first, second] = [
      askedPeer({ action: 'accept', content: { by: 'ann' } }),
      askedPeer({ action: 'decline' }),
    ];
    await Promise.all([
      call('asking', { principal: ann, peer: first.peer }, { who: 'ann' }),
      call('asking', { principal: bob, peer: second.peer }, { who: 'bob' }),
    ]);
    expect(server.sessions.size).toBe(1);
    const messages = [first, second].map(({ asked }) => asked.map(({ params }) => params['message']));
    expect(messages).toEqual([['The server “odd” asks: ann'], ['The server “odd” asks: bob']]);
  });

  verifies('relay.legacy.own-call', 'one on the stream of nobody’s call is put to nobody', async () => {
    const tool: ScriptedTool = { name: 'slow', handler: () => new Promise<never>(() => undefined) };
    const { call, server, connections, defined } = await relayRig({
      era: 'legacy',
      getStream: true,
      tools: [tool],
    });
    const caller = new AbortController();
    const { peer, asked } = askedPeer(accepted);
    const running = rejection(call('slow', { peer, signal: caller.signal }));
    if (defined.scope !== 'app') throw new Error('Not shared');
    const { upstream } = await connections.shared.lease(defined, { signal: caller.signal });
    upstream.listen(() => undefined, {});
    await eventually('a stream is open', () => server.openStreams === 1);
    expect((await server.askOnStream('elicitation/create', form)).result).toEqual(cancelled);
    expect(asked).toEqual([]);
    caller.abort();
    await running;
  });

  verifies('relay.legacy.bounded', 'a caller is asked sixteen times in a call at most', async () => {
    const tool = asking(...Array.from({ length: 18 }, () => ['elicitation/create', form] as const));
    const { call } = await relayRig({ era: 'legacy', tools: [tool] });
    const { peer, asked } = askedPeer(accepted);
    const replies = repliesOf(await call('asking', { peer }));
    expect(asked).toHaveLength(16);
    expect(replies.slice(15)).toEqual([accepted, cancelled, cancelled]);
  });

  verifies('relay.legacy.bounded', 'a question or an answer without measure is not passed on', async () => {
    const long = 'x'.repeat(1024 * 1024);
    const tool = asking(['elicitation/create', { ...form, message: long }], ['elicitation/create', form]);
    const { call } = await relayRig({ era: 'legacy', tools: [tool] });
    const { peer, asked } = askedPeer({ action: 'accept', content: { long } });
    expect(repliesOf(await call('asking', { peer }))).toEqual([cancelled, cancelled]);
    expect(asked).toHaveLength(1);
  });

  verifies(
    'relay.legacy.left',
    'is taken back when the caller leaves or the call ends without it',
    async () => {
      const tool: ScriptedTool = {
        name: 'asking',
        handler: async ({ wait }, call) => {
          const answer = call.ask('elicitation/create', form);
          return wait === true ? text(await answer) : text('went on');
        },
      };
      const { call, server } = await relayRig({ era: 'legacy', tools: [tool] });
      const signals: { aborted: boolean }[] = [];
      const peer = {
        ...askedPeer({}).peer,
        ask: (_method: string, _params: Json, signal: { aborted: boolean }) => {
          signals.push(signal);
          return new Promise<never>(() => undefined);
        },
      };
      await call('asking', { peer });
      await eventually('the first is over', () => signals[0]?.aborted === true);
      const caller = new AbortController();
      const left = rejection(call('asking', { peer, signal: caller.signal }, { wait: true }));
      await eventually('it is asked', () => signals.length === 2);
      caller.abort();
      expect(await left).toMatchObject({ name: 'AbortError' });
      expect(signals[1]!.aborted).toBe(true);
      await eventually('the server is told', () => server.received('notifications/cancelled').length === 1);
    },
  );
});

describe('a token that the server repeats', () => {
  verifies('relay.masked', 'is not in a question, in progress or in a log message', async () => {
    const token = tokenOf(ann);
    const tool: ScriptedTool = {
      name: 'leaky',
      handler: async (_, call) => {
        call.progress(1, 2);
        call.notify('notifications/progress', {
          ...(call.params['_meta'] as Json),
          progress: 2,
          message: token,
        });
        call.log('info', { token });
        return text((await call.ask('elicitation/create', { ...form, message: token })).result);
      },
    };
    const { call } = await relayRig({ era: 'legacy', tools: [tool] }, { own: true });
    const { peer, asked } = askedPeer(accepted);
    const heard: Json[] = [];
    const hear = (params: Json) => void heard.push(params);
    const answer = await call('leaky', { peer, onProgress: hear, onLog: hear });
    expect(answer.result).toMatchObject(text(accepted));
    const told = JSON.stringify([asked, heard]);
    expect(told).not.toContain(token);
    expect(told.match(/\[redacted\]/g)).toHaveLength(3);
  });

  verifies('relay.masked', 'is not in what a modern server asks back', async () => {
    const token = tokenOf(ann);
    const asks = {
      resultType: 'input_required',
      inputRequests: { one: { method: 'elicitation/create', params: { ...form, message: token } } },
      requestState: 'state',
    };
    const { call } = await relayRig(
      { era: 'modern', tools: [{ name: 'asks', handler: () => asks }] },
      { own: true },
    );
    const { peer } = askedPeer({}, { era: 'modern' });
    const answer = await call('asks', { peer });
    expect(JSON.stringify(answer)).not.toContain(token);
    expect(answer).toMatchObject({ asksBack: true, json: undefined, result: { requestState: 'state' } });
  });
});

const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

describe('a modern server that asks back', () => {
  const asks = (inputRequests: Json): ScriptedTool => ({
    name: 'asks',
    handler: (_, { params }) =>
      params['inputResponses'] === undefined
        ? { resultType: 'input_required', inputRequests, requestState: 'a "state" \\ ü' }
        : text([params['inputResponses'], params['requestState']]),
  });
  const one = { one: { method: 'elicitation/create', params: form } };
  const modern = () => askedPeer({}, { era: 'modern' }).peer;

  verifies(
    'relay.modern.input-required',
    'gets its answers with the next call, its state as it was',
    async () => {
      const { call, rig, server } = await relayRig({ era: 'modern', tools: [asks(one)] });
      const first = await call('asks', { peer: modern() });
      expect(first).toEqual({
        result: {
          resultType: 'input_required',
          inputRequests: {
            one: { ...one.one, params: { ...form, message: 'The server “odd” asks: Your name?' } },
          },
          requestState: 'a "state" \\ ü',
        },
        json: undefined,
        asksBack: true,
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
    },
  );

  verifies(
    'relay.modern.declared',
    'hears what this very caller can be asked, and nothing of others',
    async () => {
      const { call, server } = await relayRig({ era: 'modern', tools: [{ name: 'plain' }] });
      await call('plain', { peer: modern() });
      await call('plain', { peer: askedPeer({}, { era: 'modern', capabilities: { elicitation: {} } }).peer });
      await call('plain', { peer: askedPeer({}).peer });
      await call('plain');
      const declared = server
        .received('tools/call')
        .map(({ message }) => (message!.params!['_meta'] as Json)[CAPABILITIES]);
      expect(declared).toEqual([
        { elicitation: { form: {}, url: {} } },
        { elicitation: { form: {} } },
        {},
        {},
      ]);
      const lists = [...server.received('tools/list'), ...server.received('server/discover')];
      for (const { message } of lists) expect((message!.params!['_meta'] as Json)[CAPABILITIES]).toEqual({});
    },
  );

  verifies('relay.modern.opt-in', 'for a model only where the definition lends it', async () => {
    const tools = [asks({ one: { method: 'sampling/createMessage', params: { messages: [] } } })];
    const closed = await relayRig({ era: 'modern', tools });
    expect(await rejection(closed.call('asks', { peer: modern() }))).toMatchObject({
      code: 'MCP_DIALOGUE_UNSUPPORTED',
    });
    const lent = await relayRig({ era: 'modern', tools }, { definition: { relay: ['sampling'] } });
    expect(await lent.call('asks', { peer: modern() })).toMatchObject({ asksBack: true });
  });

  verifies(
    'relay.modern.unsupported',
    'is an error of its own for who cannot be asked like that',
    async () => {
      const { call, rig } = await relayRig({ era: 'modern', tools: [asks(one)] });
      const undeclared = askedPeer({}, { era: 'modern', capabilities: {} }).peer;
      for (const peer of [undefined, askedPeer({}).peer, undeclared]) {
        expect(await rejection(call('asks', { peer }))).toMatchObject({ code: 'MCP_DIALOGUE_UNSUPPORTED' });
      }
      expect(new Set(rig.audited.map(({ outcome }) => outcome))).toEqual(new Set(['refused']));
    },
  );

  verifies(
    'relay.legacy.address-first',
    'an address to be opened first is told to who can be sent there',
    async () => {
      const elicitations = [page];
      const wants: ScriptedTool = {
        name: 'wants',
        handler: () => {
          throw scriptedError(-32042, 'Open this', { elicitations });
        },
      };
      const { call } = await relayRig({ era: 'legacy', tools: [wants] });
      expect(await rejection(call('wants', { peer: askedPeer({}).peer }))).toMatchObject({
        code: 'MCP_URL_ELICITATION_REQUIRED',
        elicitations: [{ ...page, message: 'The server “odd” asks: Sign here' }],
      });
      const unable = askedPeer({}, { capabilities: { elicitation: {} } }).peer;
      for (const peer of [undefined, unable, modern()]) {
        expect(await rejection(call('wants', { peer }))).toMatchObject({ code: 'MCP_DIALOGUE_UNSUPPORTED' });
      }
      elicitations[0] = { ...page, url: 'data:text/html,x' };
      expect(await rejection(call('wants', { peer: askedPeer({}).peer }))).toMatchObject({
        code: 'MCP_DIALOGUE_UNSUPPORTED',
      });
    },
  );

  verifies('relay.modern.kind', 'a legacy result cannot pass for a question', async () => {
    const forged = { resultType: 'input_required', inputRequests: { one: everything[2] }, content: [] };
    const { call } = await relayRig({ era: 'legacy', tools: [{ name: 'forged', handler: () => forged }] });
    const { result, asksBack } = await call('forged', { peer: modern() });
    expect([result['resultType'], asksBack]).toEqual([undefined, undefined]);
  });
});
