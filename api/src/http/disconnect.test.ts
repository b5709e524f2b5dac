import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cancellation, abortReason } from '@behalf/kernel';
import { aPrincipal, eventually } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createDisconnectSignal } from './request.ts';
import type { Route } from './route.ts';
import { createApp } from './server.ts';

const ada = aPrincipal();

describe('a caller who leaves', () => {
  const servers: Server[] = [];
  afterEach(async () => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  /** Two doors to the same work. It fails when it is aborted, as work does. */
  async function begin() {
    const seen = { admitted: 0, working: 0, ended: 0, problems: 0 };
    let admit: () => void = () => undefined;
    const gate = { hold: false, open: () => admit() };
    const work = (signal: Cancellation) =>
      new Promise<void>((_resolve, reject) => {
        seen.working += 1;
        const end = () => {
          seen.ended += 1;
          reject(abortReason(signal));
        };
        if (signal.aborted) end();
        else signal.addEventListener('abort', end);
      });
    const routes: Route[] = [
      {
        method: 'post',
        path: '/hot',
        access: 'caller',
        scope: 'mcp',
        handleFast: ({ signal }) => work(signal),
      },
      {
        method: 'post',
        path: '/plain',
        access: 'signed-in',
        scope: 'mcp',
        handle: (_req, res) => work(createDisconnectSignal(res)),
      },
    ];
    const listener = createApp({
      routes,
      admission: {
        check: () => undefined,
        checkOrigin: () => undefined,
        authenticate: async () => {
          seen.admitted += 1;
          if (gate.hold) await new Promise<void>((resolve) => (admit = resolve));
          return ada;
        },
      },
      headers: {},
      problemOf: (error) => {
        seen.problems += 1;
        throw error;
      },
      trustProxy: 0,
    });
    const left: Promise<void>[] = [];
    const server = createServer((req, res) => {
      left.push(new Promise((resolve) => res.once('close', resolve)));
      listener(req, res);
    }).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    const ask = (path: string) => {
      const asking = request({ port, path, method: 'POST', headers: { 'content-type': 'application/json' } });
      asking.on('error', () => undefined);
      asking.end('{}');
      return { leave: () => asking.destroy() };
    };
    return { seen, gate, ask, waitUntilLeft: async () => void (await Promise.all(left)) };
  }
  const settle = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  for (const path of ['/hot', '/plain']) {
    test(`ends the work and is no incident: ${path}`, async () => {
      const { seen, ask } = await begin();
      const caller = ask(path);
      await eventually('the work to begin', () => seen.working === 1);
      caller.leave();
      await eventually('the work to end', () => seen.ended === 1);
      await settle();
      expect(seen.problems).toBe(0);
    });

    test(`before it is known who they are, nothing runs for them: ${path}`, async () => {
      const { seen, gate, ask, waitUntilLeft } = await begin();
      gate.hold = true;
      const caller = ask(path);
      await eventually('the question who it is', () => seen.admitted === 1);
      caller.leave();
      await waitUntilLeft();
      gate.open();
      await settle();
      // What began all the same has ended.
      expect(seen.working).toBe(seen.ended);
      expect(seen.problems).toBe(0);
    });
  }
});
