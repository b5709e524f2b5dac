import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EndpointParts, Principal, SubscribeParts } from '@behalf/gateway';
import { LightCancellation, createKeyring, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ClientEndpoint } from '../endpoint.ts';
import { createSharedLists } from '../relay/sharedLists.ts';
import { createOpenStreams } from './openStreams.ts';
import { createStreamBuffers } from './streamBuffer.ts';
import { type StreamHandlerParts, createStreamHandler } from './streamHandler.ts';
import { createEventIds } from './streamRelay.ts';
import { createSubscribeLists } from './subscriptions.ts';

const caller = aPrincipal();
const callerWatch = { subscribe: () => () => undefined };
const sessionKey = { tenant: 'default', principal: caller.userId, key: 'session' };
const session = {
  ...{ id: 'id', key: 'session', capabilities: {}, expiresAt: Number.MAX_SAFE_INTEGER, sessionKey },
  version: '2025-11-25',
} as const;
const everywhere: ClientEndpoint = { kind: 'all', search: false };
/** Of a replica that is gone. */
const UNKNOWN = `${createEventIds(createKeyring([Buffer.alloc(32, 1)], systemRandom)).createPrefix(sessionKey, { streamId: 's', replica: 'gone', requestId: 1 })}.0`;
const HOUR_MS = 60 * 60_000;

describe('a stream of a session', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** The door behind a real server. What it waits for is counted. */
  async function open(overrides: Partial<StreamHandlerParts> = {}) {
    const clock = createFakeClock();
    const streams = createOpenStreams({ clock, callerWatch });
    const held = { lists: 0, words: 0, sessions: 0 };
    const hold = (what: keyof typeof held) => {
      held[what] += 1;
      return () => void (held[what] -= 1);
    };
    const mailbox = { post: () => Promise.resolve(), wait: () => hold('words') };
    const store = openMemoryStore({ clock, random: systemRandom });
    const keyring = createKeyring([Buffer.alloc(32, 1)], systemRandom);
    const cache = store.cache('mcp');
    const streamBuffers = createStreamBuffers({
      ...{ clock, random: systemRandom, keyring, mailbox, cache, changes: store.changes, replica: 'here' },
      lists: createSharedLists({ cache, clock, leases: store.leases }),
      eventIds: createEventIds(keyring),
    });
    const door = createStreamHandler({
      ...{ clock, streams, headers: [] },
      servers: {} as EndpointParts,
      requireSession: () => Promise.resolve({ session, logLevel: undefined }),
      states: { end: () => Promise.resolve() },
      streamBuffers,
      subscribeLists: () => ({ unsubscribedServers: [], stop: hold('lists') }),
      subscribeResources: () => ({ setUris: () => Promise.resolve([]), stop: () => undefined }),
      subscribeElicitations: () => ({ check: () => undefined, stop: () => undefined }),
      subscriptions: { read: () => Promise.resolve([]) },
      sessionStreams: { openListener: () => hold('sessions'), addResumed: () => hold('sessions') },
      ...overrides,
    });
    const seen: { res?: ServerResponse; outcome?: unknown } = {};
    const server = createServer((req, res) => {
      seen.res = res;
      const json = (status: number, text: string) => void res.writeHead(status).end(text);
      const signal = new LightCancellation();
      door
        .get({ req, res, caller, json, signal, params: {}, query: '', body: undefined }, everywhere)
        .then(() => (seen.outcome = 'served'))
        .catch((error: unknown) => {
          seen.outcome = error;
          res.destroy();
        });
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const client = new AbortController();
    const get = (headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}`, {
        headers: { accept: 'text/event-stream', 'mcp-session-id': 'id', ...headers },
        signal: client.signal,
      }).catch(() => undefined);
    return { clock, streams, held, seen, get, leave: () => client.abort() };
  }

  test('that cannot be opened takes no room and ends nothing later', async () => {
    const failed = new Error('no lists');
    const { clock, streams, held, seen, get } = await open({
      subscribeResources: () => {
        throw failed;
      },
    });
    await get();
    expect(seen.outcome).toBe(failed);
    expect([streams.size, held]).toEqual([0, { lists: 0, words: 0, sessions: 0 }]);
    await clock.advance(HOUR_MS);
    streams.drain();
  });

  test('is not begun for who left before', async () => {
    for (const headers of [{}, { 'last-event-id': UNKNOWN }]) {
      const { streams, held, seen, get, leave } = await open({
        requireSession: async ({ res }) => {
          leave();
          await eventually('they have left', () => res.closed);
          return { session, logLevel: undefined };
        },
      });
      await get(headers);
      await eventually('it is served', () => seen.outcome !== undefined);
      expect([seen.outcome, streams.size, held]).toEqual(['served', 0, { lists: 0, words: 0, sessions: 0 }]);
    }
  });

  test('of another replica is waited for while its client reads', async () => {
    const { streams, held, get, leave } = await open();
    expect((await get({ 'last-event-id': UNKNOWN }))?.status).toBe(200);
    // For what its holder tells, and for what one that is gone left behind.
    expect([streams.size, held.words]).toEqual([1, 2]);
    leave();
    await eventually('it is let go', () => streams.size === 0);
    expect(held).toEqual({ lists: 0, words: 0, sessions: 0 });
  });

  test('whose end fails takes no other along', async () => {
    const clock = createFakeClock();
    const streams = createOpenStreams({ clock, callerWatch });
    const ended: string[] = [];
    const fail = () => {
      throw new Error('cannot end');
    };
    streams.register(caller, fail);
    await clock.advance(HOUR_MS);
    expect(streams.size).toBe(0);
    streams.register(caller, fail);
    streams.register(caller, () => ended.push('other'));
    streams.drain();
    expect([streams.size, ended]).toEqual([0, ['other']]);
  });

  test('also when that is at once, and the others later', async () => {
    const clock = createFakeClock();
    const ended: string[] = [];
    const streams = createOpenStreams({ clock, callerWatch });
    const enter = (name: string, authentication: Principal['authentication'], until?: number) =>
      streams.register(aPrincipal({ authentication }), () => ended.push(name), until);
    const now = clock.now();
    enter('token', { via: 'bearer', expiresAt: now + 60_000 });
    enter('key', { via: 'api_key', key: 'k', scopes: [], expiresAt: now + 120_000 });
    enter('session', { via: 'bearer', expiresAt: now + 600_000 }, now + 180_000);
    enter('late', { via: 'bearer', expiresAt: now - 1 });
    enter('cookie', { via: 'session', session: 's' });
    const received: string[][] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      await clock.advance(minute === 0 ? 0 : 60_000);
      received.push(ended.splice(0));
    }
    expect(received).toEqual([['late'], ['token'], ['key'], ['session']]);
    await clock.advance(HOUR_MS);
    expect([ended, streams.size]).toEqual([['cookie'], 0]);
  });

  test('is left by nothing that is told of its caller', () => {
    const clock = createFakeClock();
    const followed = new Set<() => void>();
    const subscribe = (_caller: unknown, onOver: () => void) => {
      followed.add(onOver);
      return () => void followed.delete(onOver);
    };
    const streams = createOpenStreams({ clock, callerWatch: { subscribe } });
    const ended: string[] = [];
    const leave = streams.register(caller, () => ended.push('left'));
    streams.register(caller, () => ended.push('taken back'));
    leave();
    for (const over of [...followed]) over();
    expect([ended, streams.size, followed.size]).toEqual([['taken back'], 0, 0]);
  });

  test('of a server that went meanwhile follows what is left', () => {
    const clock = createFakeClock();
    let subscribed = 0;
    const listChanges = { subscribe: () => ((subscribed += 1), () => void (subscribed -= 1)) };
    const servers = { registry: { find: () => undefined } } as unknown as EndpointParts & SubscribeParts;
    const follow = createSubscribeLists({ servers, listChanges, clock });
    const lists = follow(caller, { kind: 'one', server: 'gone' }, () => undefined, { includesOwn: true });
    expect(subscribed).toBe(1);
    lists.stop();
    expect(subscribed).toBe(0);
  });
});
