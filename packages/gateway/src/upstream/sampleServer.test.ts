import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { sendRequest, callChannelTool } from '../../test/channelRig.ts';
import { openSampleServer, createSampleTarget } from '../../test/sampleServer.ts';
import type { JsonObject, Upstream } from './upstream.ts';

interface Tool {
  readonly name: string;
  readonly inputSchema: JsonObject;
}

/** What a tool that waits for somebody (elicitation, sampling) may take before its caller gives up. */
const PATIENCE_MS = 3_000;

describe('the built-in sample server', () => {
  let connections = 0;
  let listeners: Server[] = [];
  let port = 0;
  beforeEach(async () => {
    connections = 0;
    listeners = [];
    const listen = async (host: string, at: number) => {
      const server = createServer((_req, res) => res.end('reached'));
      server.on('connection', () => (connections += 1));
      server.listen(at, host);
      await once(server, 'listening');
      listeners.push(server);
      return (server.address() as AddressInfo).port;
    };
    port = await listen('127.0.0.1', 0);
    // Not every machine has IPv6; the port may be taken there.
    await listen('::1', port).catch(() => undefined);
  });
  afterEach(async () => {
    for (const server of listeners) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  });

  /** Ways to write loopback, among them those that try to look like the one allowed name. */
  const spellings = () => [
    `http://127.0.0.1:${port}/`,
    `HTTP://127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}/`,
    `http:127.0.0.1:${port}/`,
    `http:\\\\127.0.0.1:${port}\\`,
    ` http://127.0.0.1:${port}/ `,
    `http://localhost:${port}/`,
    `http://LOCALHOST.:${port}/`,
    `http://[::1]:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://0.0.0.0:${port}/`,
    `http://[::]:${port}/`,
    `http://127.1:${port}/`,
    `http://2130706433:${port}/`,
    `http://0x7f.1:${port}/`,
    `http://0177.0.0.1:${port}/`,
    `http://%31%32%37.0.0.1:${port}/`,
    `http://１２７.0.0.1:${port}/`,
    `http://invalid@127.0.0.1:${port}/`,
    `http://x.invalid@127.0.0.1:${port}/`,
    `http://x.invalid:y@127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}/#.invalid`,
    `http://127.0.0.1:${port}/?.invalid`,
    `http://127.0.0.1:${port}/.invalid`,
    `http://127.0.0.1:${port}\\@x.invalid/`,
    `http://127.0.0.1:${port}#@x.invalid/`,
  ];

  /** Calls a tool with the URL in every place that takes a text, and waits no longer than a person would. */
  async function callWith(upstream: Upstream, tool: Tool, url: string): Promise<void> {
    const properties = (tool.inputSchema['properties'] ?? {}) as Record<
      string,
      { type?: string; enum?: unknown[] }
    >;
    const args = Object.fromEntries(
      Object.entries(properties).map(([name, { type, enum: choices }]) => {
        if (choices) return [name, choices[0]];
        if (type === 'number' || type === 'integer') return [name, 1];
        if (type === 'boolean') return [name, true];
        return [name, url];
      }),
    );
    const signal = AbortSignal.timeout(PATIENCE_MS);
    // What it answers, or whether it refuses, is its own business here.
    await callChannelTool(upstream, tool.name, { ...args, data: url }, { signal }).catch(() => undefined);
  }

  const toolsOf = async (upstream: Upstream) =>
    (await sendRequest(upstream, 'tools/list'))['tools'] as Tool[];

  test('none of its tools reaches a loopback listener, however the address is written', async () => {
    const upstream = await openSampleServer();
    const tools = await toolsOf(upstream);
    expect(tools.length).toBeGreaterThanOrEqual(10);
    await Promise.all(tools.flatMap((tool) => spellings().map((url) => callWith(upstream, tool, url))));
    expect(connections).toBe(0);
    // Nothing late either: it is gone, and with it whatever it still meant to do.
    await upstream.close();
    expect(connections).toBe(0);
  }, 60_000);

  test('the same calls do reach it when the setting is taken away, so that this test could fail', async () => {
    const { GZIP_ALLOWED_DOMAINS: _, ...env } = createSampleTarget().env;
    const upstream = await openSampleServer({ env });
    const tools = await toolsOf(upstream);
    const gzip = tools.find(({ name }) => name === 'gzip-file-as-resource')!;
    const reached: string[] = [];
    for (const url of spellings()) {
      const before = connections;
      await callWith(upstream, gzip, url);
      // A kept-alive connection would hide the next call.
      for (const server of listeners) server.closeAllConnections();
      if (connections > before) reached.push(url);
    }
    await upstream.close();
    expect(reached).toEqual(
      expect.arrayContaining([
        `http://127.0.0.1:${port}/`,
        `http://2130706433:${port}/`,
        `http://0x7f.1:${port}/`,
        `http://0.0.0.0:${port}/`,
        `http://localhost:${port}/`,
        `http://127.0.0.1:${port}/#.invalid`,
        `http://127.0.0.1:${port}\\@x.invalid/`,
      ]),
    );
  }, 60_000);

  test('sees one variable and nothing of ours', async () => {
    const upstream = await openSampleServer();
    const { content } = (await callChannelTool(upstream, 'get-env')) as { content: { text: string }[] };
    await upstream.close();
    expect(JSON.parse(content[0]!.text)).toEqual({ GZIP_ALLOWED_DOMAINS: 'invalid' });
  });
});
