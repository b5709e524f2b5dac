import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, scriptedError, type ScriptedOptions } from '@behalf/testkit';
import { annPrincipal, bobPrincipal, createRelayRig, stopRelayRigs, tokenFor } from '../../test/relayRig.ts';
import { defineServer, captureRejection } from '../../test/toolcallRig.ts';
import { principalKey, type Principal } from '../principal/principal.ts';
import type { ServerNotification } from '../upstream/upstream.ts';
import { subscribeToServer } from './subscribe.ts';

afterEach(stopRelayRigs);

const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';
const UPDATED = 'notifications/resources/updated';
const announced = { listChanged: true };
const capabilities = { tools: announced, prompts: announced, resources: { ...announced, subscribe: true } };
const eras = ['legacy', 'modern'] as const;

async function watchRig(era: 'legacy' | 'modern', more: Partial<ScriptedOptions> = {}, isUserScoped = true) {
  const methods = { 'resources/subscribe': () => ({}), 'resources/unsubscribe': () => ({}) };
  const script = { era, getStream: true, capabilities, methods, tools: [{ name: 'plain' }], ...more };
  const rig = await createRelayRig(script, { isUserScoped });
  function watch(principal: Principal) {
    const received: ServerNotification[] = [];
    const watching = subscribeToServer(rig.parts, 'odd', rig.inbound({ principal }), (notice) => {
      received.push(notice);
    });
    return { ...watching, received, methods: () => received.map(({ method }) => method) };
  }
  /** The newest stream is open, and those before it are over. */
  const reopened = (least: number) =>
    eventually('the stream is open', () => {
      const streams = rig.server.requests.filter(
        ({ verb, message }) => verb === 'GET' || message?.method === 'subscriptions/listen',
      );
      const isOver = streams.slice(0, -1).every(({ aborted }) => aborted);
      return streams.length >= least && isOver && rig.server.openStreams === 1;
    });
  const opened = (count: number) => eventually(`${count} streams`, () => rig.server.openStreams === count);
  return { ...rig, watch, opened, reopened };
}

const by = (who: Principal) => (headers: { authorization?: string | undefined }) =>
  headers.authorization === `Bearer ${tokenFor(who)}`;

for (const era of eras) {
  describe(`what changes at a ${era} server`, () => {
    test('is told to the user whose stream it came on, and to no other', async () => {
      const { server, watch, opened } = await watchRig(era);
      const [anns, bobs] = [watch(annPrincipal), watch(bobPrincipal)];
      await opened(2);
      server.push(TOOLS, { secret: 'x' }, by(annPrincipal));
      await eventually('ann hears', () => anns.received.length === 1);
      server.push(PROMPTS, {}, by(bobPrincipal));
      await eventually('bob hears', () => bobs.received.length === 1);
      expect([anns.received, bobs.received]).toEqual([
        [{ method: TOOLS, params: {} }],
        [{ method: PROMPTS, params: {} }],
      ]);
    });

    test('of one user’s call is not told to another', async () => {
      const tell = {
        name: 'tell',
        handler: (_: unknown, call: { notify(method: string, params: object): void }) => {
          call.notify(TOOLS, {});
          return { content: [] };
        },
      };
      const { call, watch, opened, server } = await watchRig(era, { tools: [tell] });
      const bobs = watch(bobPrincipal);
      await opened(1);
      await call('tell', { principal: annPrincipal });
      server.push(PROMPTS);
      await eventually('bob hears', () => bobs.received.length === 1);
      expect(bobs.methods()).toEqual([PROMPTS]);
    });

    test('makes the list of that user old, and nobody else’s', async () => {
      const { server, watch, opened, call, rig, definedServer } = await watchRig(era);
      await call('plain', { principal: annPrincipal });
      await call('plain', { principal: bobPrincipal });
      const lists = () => server.received('tools/list').length;
      const stale = (who: Principal) => rig.catalog.isStale(definedServer, principalKey(who));
      const before = lists();
      const watching = watch(annPrincipal);
      await opened(1);
      server.push(TOOLS);
      await eventually('it is told', () => watching.received.length === 1);
      expect(stale(annPrincipal)).toBe(true);
      // A modern list without a time of its own is old at once.
      if (era === 'legacy') expect(stale(bobPrincipal)).toBe(false);
      expect(lists()).toBe(before);
    });

    test('two watches of a user are one stream, which ends with the last', async () => {
      const { server, watch, opened, serverSubscriptions } = await watchRig(era);
      const [first, second] = [watch(annPrincipal), watch(annPrincipal)];
      await opened(1);
      server.push(TOOLS);
      await eventually('both hear', () => first.received.length + second.received.length === 2);
      second.close();
      await opened(1);
      server.push(PROMPTS);
      await eventually('the first hears', () => first.received.length === 2);
      expect(second.methods()).toEqual([TOOLS]);
      first.close();
      first.close();
      await opened(0);
      expect(serverSubscriptions.size).toBe(0);
    });

    test('of a shared server is one stream for all', async () => {
      const { server, watch, opened } = await watchRig(era, {}, false);
      const all = [watch(annPrincipal), watch(bobPrincipal)];
      await opened(1);
      server.push(TOOLS);
      await eventually('all hear', () => all.every(({ received }) => received.length === 1));
    });

    test('is not told to who may not see the server any more', async () => {
      const { server, watch, opened, rig } = await watchRig(era, {}, false);
      const [anns, bobs] = [watch(annPrincipal), watch(bobPrincipal)];
      await opened(1);
      rig.canSee = ({ userId }) => userId !== annPrincipal.userId;
      server.push(TOOLS);
      await eventually('bob hears', () => bobs.received.length === 1);
      expect(anns.received).toEqual([]);
    });

    test('is heard with the new credential after another was given', async () => {
      const { server, watch, opened, reopened, connections } = await watchRig(era);
      const watching = watch(annPrincipal);
      await opened(1);
      void connections.dropForServer('odd', principalKey(annPrincipal));
      await reopened(2);
      server.push(TOOLS);
      await eventually('it is heard', () => watching.received.length === 1);
    });

    test('an updated resource is told to who subscribed it', async () => {
      const { server, watch, opened, reopened } = await watchRig(era, {}, false);
      const [anns, bobs] = [watch(annPrincipal), watch(bobPrincipal)];
      await opened(1);
      await anns.subscribeResource('note://a');
      await bobs.subscribeResource('note://b');
      await eventually('the server knows', () => subscribed(server, era).size === 2);
      await reopened(1);
      server.push(UPDATED, { uri: 'note://a', title: 'x' });
      server.push(UPDATED, { uri: 'note://c' });
      server.push(UPDATED, { uri: 'note://b' });
      await eventually('both hear', () => anns.received.length + bobs.received.length === 2);
      expect(anns.received).toEqual([{ method: UPDATED, params: { uri: 'note://a' } }]);
      expect(bobs.received).toEqual([{ method: UPDATED, params: { uri: 'note://b' } }]);
      bobs.unsubscribeResource('note://b');
      await eventually('the server knows', () => subscribed(server, era).size === 1);
      await reopened(1);
      server.push(UPDATED, { uri: 'note://b' });
      server.push(PROMPTS);
      await eventually('the change', () => bobs.methods().includes(PROMPTS));
      expect(bobs.received).toHaveLength(2);
    });
  });
}

type Server = Awaited<ReturnType<typeof createRelayRig>>['server'];

/** What the server believes to be subscribed. */
function subscribed(server: Server, era: 'legacy' | 'modern'): ReadonlySet<unknown> {
  if (era === 'modern') {
    const filter = server.received('subscriptions/listen').at(-1)?.message?.params?.['notifications'];
    return new Set((filter as { resourceSubscriptions?: string[] } | undefined)?.resourceSubscriptions);
  }
  const uris = new Set<unknown>();
  for (const { message } of server.requests) {
    if (message?.method === 'resources/subscribe') uris.add(message.params?.['uri']);
    if (message?.method === 'resources/unsubscribe') uris.delete(message.params?.['uri']);
  }
  return uris;
}

describe('a watch', () => {
  test('is declared with the stream of changes, when it is opened anew too', async () => {
    const { server, parts, inbound, opened } = await watchRig('modern');
    const extension = 'io.modelcontextprotocol/enterprise-managed-authorization';
    const credentials = {
      async obtain(...args: Parameters<typeof parts.credentials.obtain>) {
        const { target, binding } = await parts.credentials.obtain(...args);
        return { binding, target: { ...target, bearer: { ...target.bearer, extension } } };
      },
    };
    const watching = subscribeToServer({ ...parts, credentials }, 'odd', inbound(), () => undefined);
    await opened(1);
    server.endStreams();
    const streams = () => server.received('subscriptions/listen');
    await eventually('it is opened anew', () => streams().length === 2);
    for (const { message } of streams())
      expect(message?.params?.['_meta']).toMatchObject({
        'io.modelcontextprotocol/clientCapabilities': { extensions: { [extension]: {} } },
      });
    watching.close();
  });

  test('of two users of one resource is one subscription at the server', async () => {
    const { server, watch } = await watchRig('legacy', {}, false);
    const [anns, bobs] = [watch(annPrincipal), watch(bobPrincipal)];
    await anns.subscribeResource('note://a');
    await bobs.subscribeResource('note://a');
    anns.unsubscribeResource('note://a');
    expect(server.received('resources/subscribe')).toHaveLength(1);
    expect(server.received('resources/unsubscribe')).toHaveLength(0);
    bobs.close();
    anns.close();
  });

  test('is subscribed again when the server forgot the session', async () => {
    const { server, watch, call, opened } = await watchRig('legacy', {}, false);
    const watching = watch(annPrincipal);
    await watching.subscribeResource('note://a');
    await opened(1);
    server.forgetSessions();
    server.endStreams();
    await call('plain');
    await eventually('it is subscribed again', () => server.received('resources/subscribe').length === 2);
    const [before, after] = server
      .received('resources/subscribe')
      .map(({ headers }) => headers['mcp-session-id']);
    expect(after).not.toBe(before);
  });

  test('rejects what the server refuses, and does not keep it', async () => {
    const methods = {
      'resources/subscribe': () => {
        throw scriptedError(-32002, 'Not found');
      },
    };
    const { watch } = await watchRig('legacy', { methods }, false);
    expect(await captureRejection(watch(annPrincipal).subscribeResource('note://none'))).toMatchObject({
      code: 'MCP_RESOURCE_NOT_FOUND',
    });
  });

  test('is refused when one user has too many; others have theirs', async () => {
    const { watch } = await watchRig('legacy', {}, false);
    const many = Array.from({ length: 1_024 }, () => watch(annPrincipal));
    expect(() => watch(annPrincipal)).toThrow(expect.objectContaining({ code: 'MCP_RATE_LIMITED' }));
    watch(bobPrincipal);
    many[0]!.close();
    watch(annPrincipal);
  });

  test('is refused when one user would hold too many connections', async () => {
    const { parts, inbound, watch } = await watchRig('legacy');
    watch(annPrincipal);
    const named = { headers: { 'x-user': '{{LIBRECHAT_USER_ID}}' } };
    const find = parts.registry.find;
    const registry = {
      ...parts.registry,
      find: (tenant: string, name: string) => find(tenant, name) ?? defineServer(name, named),
    };
    const nowhere = { ...parts, registry };
    const open = (n: number, principal: Principal) =>
      subscribeToServer(nowhere, `other${n}`, inbound({ principal }), () => undefined);
    for (let n = 1; n < 16; n += 1) open(n, annPrincipal);
    expect(() => open(16, annPrincipal)).toThrow(expect.objectContaining({ code: 'MCP_RATE_LIMITED' }));
    open(16, bobPrincipal);
  });

  test('goes nowhere that one tenant alone has put in its place', async () => {
    const { parts, inbound, watch, server, opened } = await watchRig('modern', {}, false);
    const theirs = await watchRig('modern', {}, false);
    const mallory: Principal = { ...bobPrincipal, tenant: 'evil' };
    let looks = 0;
    const registry = {
      ...parts.registry,
      find(tenant: string, name: string) {
        const base = parts.registry.find(tenant, name);
        // The override is saved as soon as the watch has begun.
        if (tenant !== 'evil' || !base || (looks += 1) === 1) return base;
        return { ...defineServer(name, { url: theirs.server.url }), tenant };
      },
    };
    const received: ServerNotification[] = [];
    subscribeToServer({ ...parts, registry }, 'odd', inbound({ principal: mallory }), (one) =>
      received.push(one),
    );
    const anns = watch(annPrincipal);
    await opened(1);
    server.push(TOOLS);
    await eventually('ann hears', () => anns.received.length === 1);
    expect([received, theirs.server.requests]).toEqual([[], []]);
  });

  test('of a server that is not there is no watch', async () => {
    const { parts, inbound, rig } = await watchRig('legacy');
    rig.canSee = () => false;
    expect(() => subscribeToServer(parts, 'odd', inbound(), () => undefined)).toThrow(
      expect.objectContaining({ code: 'MCP_SERVER_NOT_FOUND' }),
    );
  });
});
