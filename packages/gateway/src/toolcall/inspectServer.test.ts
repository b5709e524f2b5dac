import { eventually } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { createAppServer, createConnectionsRig } from '../../test/connectionsRig.ts';
import { defineServer, captureRejection, createToolcallRig } from '../../test/toolcallRig.ts';
import type { AppServer } from '../definitions/definition.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { inspectServer } from './list.ts';

describe('a look at a shared server', () => {
  test('on request it passes an open breaker; in the background it waits', async () => {
    const pools = createConnectionsRig();
    const server = createAppServer();
    const { catalog, listAll } = createToolcallRig([]).parts;
    const look = (bypassesBreaker: boolean) =>
      inspectServer({ connections: pools.manager, catalog, listAll }, server, {
        signal: pools.signal,
        bypassesBreaker,
      });
    pools.onOpen = (opening) => opening.fail('connect_timeout');
    for (let i = 0; i < 3; i += 1)
      await expect(look(false)).rejects.toMatchObject({ reason: 'connect_timeout' });
    await expect(look(false)).rejects.toMatchObject({ reason: 'breaker_open' });
    await expect(look(true)).rejects.toMatchObject({ reason: 'connect_timeout' });
    pools.onOpen = (opening) => void opening.complete('legacy', { capabilities: {} });
    await expect(look(true)).resolves.toMatchObject({ toolCount: 0 });
    await expect(look(false)).resolves.toMatchObject({ toolCount: 0 });
  });

  test('one that is given up leaves its list to those who wait for the same', async () => {
    const server = defineServer('shared') as AppServer;
    const rig = createToolcallRig([server]);
    let show: (answer: JsonObject) => void = () => undefined;
    rig.tools = undefined;
    rig.answers = () => new Promise<JsonObject>((resolve) => (show = resolve));
    const patience = new AbortController();
    const look = captureRejection(
      inspectServer(rig.parts, server, { signal: patience.signal, bypassesBreaker: false }),
    );
    await eventually('the list is asked for', () => rig.lists().length === 1);
    const waiting = rig.catalog.load(server, '', () => Promise.reject(new Error('asked twice')), {
      signal: new AbortController().signal,
    });
    patience.abort();
    expect(await look).toMatchObject({ name: 'AbortError' });
    expect(rig.lists()[0]!.options.signal.aborted).toBe(false);
    show({ tools: [{ name: 'echo', inputSchema: {} }] });
    expect((await waiting).tools.map(({ name }) => name)).toEqual(['echo']);
    // Leaving is no failure of the server.
    expect(rig.released).toMatchObject([{ name: 'AbortError' }]);
  });
});
