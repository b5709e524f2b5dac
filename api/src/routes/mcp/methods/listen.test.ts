import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LightCancellation } from '@behalf/kernel';
import { aPrincipal, createFakeClock, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createResultJson } from '../results.ts';
import { createOpenStreams } from '../stream/openStreams.ts';
import { type ListenParts, createListen } from './listen.ts';

const caller = aPrincipal();
const callerWatch = { subscribe: () => () => undefined };
const params = { notifications: { toolsListChanged: true } };

describe('a subscription', () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  /** Somebody asks for one, and has perhaps left before it is begun. */
  async function ask(leaves: boolean, overrides: Partial<ListenParts> = {}) {
    const clock = createFakeClock();
    const streams = createOpenStreams({ clock, callerWatch });
    const client = new AbortController();
    const seen: { outcome?: unknown; lists: number } = { lists: 0 };
    const listen = createListen({
      ...{ clock, streams, headers: [] },
      results: createResultJson({ name: 'behalf', title: 'Behalf', version: '0' }),
      subscribeLists: () => (
        (seen.lists += 1),
        { unsubscribedServers: [], stop: () => void (seen.lists -= 1) }
      ),
      subscribeResources: () => ({ setUris: () => Promise.resolve([]), stop: () => undefined }),
      ...overrides,
    });
    server = createServer((req, res) => {
      const json = (status: number, text: string) => void res.writeHead(status).end(text);
      const exchange = { req, res, caller, json, params: {}, query: '', body: undefined };
      const serve = async () => {
        if (leaves) {
          client.abort();
          await eventually('they have left', () => res.closed);
        }
        await listen(
          { ...exchange, signal: new LightCancellation() },
          { caller, endpoint: { kind: 'all', search: false }, id: 1, params, capabilities: {} },
        );
      };
      serve()
        .then(() => (seen.outcome = 'served'))
        .catch((error: unknown) => {
          seen.outcome = error;
        });
    });
    await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    fetch(`http://127.0.0.1:${port}`, { signal: client.signal }).catch(() => undefined);
    await eventually('it is served', () => seen.outcome !== undefined);
    return { streams, seen, client };
  }

  test('is held while its client reads', async () => {
    const { streams, seen, client } = await ask(false);
    expect([seen.outcome, streams.size, seen.lists]).toEqual(['served', 1, 1]);
    client.abort();
    await eventually('it is let go', () => streams.size === 0);
    expect(seen.lists).toBe(0);
  });

  test('is not begun for who left before', async () => {
    const { streams, seen } = await ask(true);
    expect([seen.outcome, streams.size, seen.lists]).toEqual(['served', 0, 0]);
  });

  test('that cannot be begun takes no room', async () => {
    const failed = new Error('no lists');
    const { streams, seen } = await ask(false, {
      subscribeLists: () => {
        throw failed;
      },
    });
    expect([seen.outcome, streams.size]).toEqual([failed, 0]);
  });
});
