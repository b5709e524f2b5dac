import type { Duplex } from 'node:stream';
import { systemDial } from '@behalf/egress';
import {
  type RemoteTarget,
  type ServerSnapshot,
  createOpenUpstream,
  createStdioLimits,
} from '@behalf/gateway';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { type Settings, compileDefinition } from '@behalf/settings';
import { type ScriptedOptions, eventually, scriptedHttpServer } from '@behalf/testkit';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createNetwork } from './network.ts';

const rules = (...operatorAddresses: string[]) =>
  ({
    ...{ servers: [], identityProviders: [], endpoints: { custom: [] } },
    mcpSettings: { operatorAddresses },
  }) as unknown as Settings;

describe('the door out under rules that change', () => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const part of opened.splice(0).reverse()) await part.close();
  });

  async function begin(options: ScriptedOptions = { era: 'legacy', tools: [{ name: 'echo' }] }) {
    const server = await scriptedHttpServer(options);
    opened.push(server);
    const sockets: Duplex[] = [];
    const open = `127.0.0.1:${server.port}`;
    const door = createNetwork({
      settings: rules(open),
      env: {},
      limits: { bodyBytes: 1_000_000, sseLineBytes: 1_000_000 },
      identityOrigins: [],
      // A test names addresses; it asks no name server.
      resolve: () => Promise.reject(new Error('not found')),
      dial: async (target, signal) => {
        const socket = await systemDial(target, signal);
        sockets.push(socket);
        return socket;
      },
      clock: systemClock,
      keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
      ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
    });
    opened.push(door);
    const target: RemoteTarget = {
      type: 'streamable-http',
      url: server.url,
      headers: {},
      audience: 'yaml-server',
      proxy: undefined,
      sseReadTimeoutMs: 1_000,
    };
    const { signal } = new AbortController();
    const send = door.network.sendTo(target);
    const ask = async (method = 'tools/list') => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
      const headers = { 'content-type': 'application/json' };
      const reply = await send({ method: 'POST', url: server.url, headers, body, signal });
      return [reply.status, await reply.text()];
    };
    const openUpstream = createOpenUpstream({
      ...{ clock: systemClock, random: systemRandom, version: '0', network: door.network },
      log: () => undefined,
      onStderr: () => undefined,
      kill: () => undefined,
      limits: createStdioLimits(),
    });
    return { server, sockets, open, door, target, signal, ask, openUpstream };
  }
  const refusal = (door: Awaited<ReturnType<typeof begin>>['door'], error: unknown) =>
    door.network.readError(error);

  test('a live session meets the new rules with its next request', async () => {
    for (const era of ['legacy', 'modern'] as const) {
      const { server, door, target, signal, openUpstream, open } = await begin({
        era,
        tools: [{ name: 'echo' }],
      });
      const upstream = await openUpstream(target, {
        ...{ server: 's', owner: undefined, era: 'auto', initTimeoutMs: 5_000, signal },
      });
      const call = () =>
        upstream.request(
          'tools/call',
          { name: 'echo', arguments: {} },
          { signal, timeoutMs: 5_000, totalMs: 5_000 },
        );
      await call();
      const before = server.requests.length;
      door.update(rules());
      await expect(call()).rejects.toMatchObject({ reason: 'not_allowed', code: 'MCP_DOMAIN_NOT_ALLOWED' });
      expect(server.requests).toHaveLength(before);
      door.update(rules(open));
      await call();
      expect(server.received('tools/call')).toHaveLength(2);
      await upstream.close();
    }
  });

  test('every way out that somebody already holds meets them', async () => {
    const { door, target, signal, ask, server } = await begin();
    const fetch = door.network.fetchTo(target);
    await (await fetch(server.url)).body?.cancel();
    await ask();
    const before = server.requests.length;
    door.update(rules());
    for (const way of [ask(), fetch(server.url), door.network.connectTo(target, signal)]) {
      const error = await way.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(refusal(door, error)).toEqual({ code: 'MCP_DOMAIN_NOT_ALLOWED', requestSent: false });
    }
    expect(server.requests).toHaveLength(before);
  });

  test('the old door is closed: none of its sockets is left', async () => {
    const { door, ask, sockets, open } = await begin();
    await ask();
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    door.update(rules(open, '10.0.0.1:80'));
    // Long before either side would give an idle one up.
    await eventually('the old socket to close', () => sockets[0]?.destroyed === true, 2_000);
    await ask();
    expect(sockets).toHaveLength(2);
    await door.close();
    expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
    await expect(ask()).rejects.toThrow();
  });

  test('what is in the air is answered', async () => {
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    const { door, ask, server } = await begin({
      era: 'legacy',
      respond: async () => {
        await held;
        return { status: 200, body: { fine: true } };
      },
    });
    const asking = ask();
    await eventually('the request', () => server.requests.length === 1);
    door.update(rules());
    answer();
    expect(await asking).toEqual([200, '{"fine":true}']);
  });

  test('rules that stay the same interrupt nothing', async () => {
    const { door, ask, sockets, open } = await begin();
    await ask();
    door.update(rules(open));
    await ask();
    expect(sockets[0]?.destroyed).toBe(false);
  });

  test('a socket that stays open ends when its server is no longer allowed', async () => {
    const { door, target, signal, open } = await begin();
    const socket = await door.network.connectTo(target, signal);
    socket.on('error', () => undefined);
    door.update(rules(open, '10.0.0.1:80'));
    await door.network.connectTo(target, signal).then((other) => other.destroy());
    expect(socket.destroyed).toBe(false);
    door.update(rules());
    await eventually('the socket to end', () => socket.destroyed);
  });

  test('also one that was on its way meanwhile', async () => {
    const { door, target, signal } = await begin();
    const connecting = door.network.connectTo(target, signal);
    door.update(rules());
    const error = await connecting.then(
      (socket) => void socket.destroy(),
      (thrown: unknown) => thrown,
    );
    expect(refusal(door, error)).toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
  });

  test('what is open to servers of the file is open where the operator wrote it down', async () => {
    const { server, door, sockets } = await begin();
    const compiled = compileDefinition('theirs', { type: 'streamable-http', url: server.url }, { env: {} });
    if (!compiled.ok) throw new Error('no definition');
    const theirs = { audience: 'yaml-server', settings: compiled.server } as unknown as ServerSnapshot;
    const { origin } = new URL(server.url);
    for (const vouched of [[], ['http://127.0.0.1:1'], [`${origin}/`]]) {
      const pending = door.oauth
        .fetchFor(
          theirs,
          vouched,
        )(server.url)
        .catch((thrown: unknown) => thrown);
      expect(refusal(door, await pending)).toEqual({ code: 'MCP_DOMAIN_NOT_ALLOWED', requestSent: false });
      const judged = door.oauth.checkUrl(theirs, server.url, vouched).catch((thrown: unknown) => thrown);
      expect(refusal(door, await judged)).toMatchObject({ code: 'MCP_DOMAIN_NOT_ALLOWED' });
    }
    expect(sockets).toEqual([]);
    await (await door.oauth.fetchFor(theirs, [origin])(server.url)).body?.cancel();
    await door.oauth.checkUrl(theirs, server.url, [origin]);
    expect(sockets).toHaveLength(1);
  });
});
