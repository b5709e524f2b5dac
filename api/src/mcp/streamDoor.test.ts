import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Endpoint, EndpointParts, WatchParts } from '@behalf/gateway';
import { LightCancellation, systemRandom } from '@behalf/kernel';
import { aPrincipal, createFakeClock, eventually, verifies } from '@behalf/testkit';
import { afterEach, describe, expect } from '@jest/globals';
import { createFollowLists } from './stream/followLists.ts';
import { createOpenStreams } from './stream/openStreams.ts';
import { createReplays } from './stream/replays.ts';
import { createStreamDoor, type StreamDoorParts } from './streamDoor.ts';

const caller = aPrincipal();
const place = { tenant: 'default', principal: caller.userId, key: 'session' };
const session = {
  ...{ id: 'id', key: 'session', capabilities: {}, expiresAt: 0, place },
  version: '2025-11-25',
} as const;
const everywhere: Endpoint = { kind: 'all' };
const UNKNOWN = `${'a'.repeat(22)}.0`;
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
  async function open(over: Partial<StreamDoorParts> = {}) {
    const clock = createFakeClock();
    const streams = createOpenStreams(clock);
    const held = { lists: 0, words: 0 };
    const hold = (what: keyof typeof held) => {
      held[what] += 1;
      return () => void (held[what] -= 1);
    };
    const mailbox = { post: () => Promise.resolve(), wait: () => hold('words') };
    const door = createStreamDoor({
      ...{ clock, mailbox, streams, headers: [] },
      servers: {} as EndpointParts,
      requireSession: () => Promise.resolve({ session, logLevel: undefined }),
      states: { end: () => Promise.resolve() },
      replays: createReplays({ clock, mailbox, random: systemRandom }),
      followLists: () => hold('lists'),
      followResources: () => ({ follow: () => Promise.resolve([]), stop: () => undefined }),
      subscriptions: { read: () => Promise.resolve([]) },
      changes: { subscribe: () => () => undefined },
      ...over,
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

  verifies(
    'mcp.door.streams-released',
    'that cannot be opened takes no room and ends nothing later',
    async () => {
      const failed = new Error('no lists');
      const { clock, streams, held, seen, get } = await open({
        followResources: () => {
          throw failed;
        },
      });
      await get();
      expect(seen.outcome).toBe(failed);
      expect([streams.size, held]).toEqual([0, { lists: 0, words: 0 }]);
      await clock.advance(HOUR_MS);
      streams.drain();
    },
  );

  verifies('mcp.door.streams-released', 'is not begun for who left before', async () => {
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
      expect([seen.outcome, streams.size, held]).toEqual(['served', 0, { lists: 0, words: 0 }]);
    }
  });

  verifies(
    'mcp.door.streams-released',
    'of another replica is waited for while its client reads',
    async () => {
      const { streams, held, get, leave } = await open();
      expect((await get({ 'last-event-id': UNKNOWN }))?.status).toBe(200);
      expect([streams.size, held.words]).toEqual([1, 1]);
      leave();
      await eventually('it is let go', () => streams.size === 0);
      expect(held.words).toBe(0);
    },
  );

  verifies('mcp.door.streams-released', 'whose end fails takes no other along', async () => {
    const clock = createFakeClock();
    const streams = createOpenStreams(clock);
    const ended: string[] = [];
    const fail = () => {
      throw new Error('cannot end');
    };
    streams.enter(caller, fail);
    await clock.advance(HOUR_MS);
    expect(streams.size).toBe(0);
    streams.enter(caller, fail);
    streams.enter(caller, () => ended.push('other'));
    streams.drain();
    expect([streams.size, ended]).toEqual([0, ['other']]);
  });

  verifies('mcp.door.streams-released', 'of a server that went meanwhile follows what is left', () => {
    const clock = createFakeClock();
    let subscribed = 0;
    const news = { subscribe: () => ((subscribed += 1), () => void (subscribed -= 1)) };
    const servers = { registry: { find: () => undefined } } as unknown as EndpointParts & WatchParts;
    const follow = createFollowLists({ servers, news, clock });
    const stop = follow(caller, { kind: 'one', server: 'gone' }, () => undefined, { own: true });
    expect(subscribed).toBe(1);
    stop();
    expect(subscribed).toBe(0);
  });
});
