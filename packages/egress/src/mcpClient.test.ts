import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@behalf/testkit';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createEgressRig, startHttpServer, stopServers } from '../test/rig.ts';
import { EgressError, HOP_HEADER, systemDial } from './index.ts';

interface Message {
  id?: number;
  method: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
}

/** The least of a Streamable HTTP server: one tool, answers as JSON or, for the tool call, as an event stream. */
function createMcpServer() {
  const seen: { method: string | undefined; headers: IncomingMessage['headers'] }[] = [];
  const streams: ServerResponse[] = [];
  const answer = (message: Message): unknown => {
    if (message.method === 'initialize') {
      const capabilities = { tools: {} };
      const serverInfo = { name: 'least', version: '1.0.0' };
      return { protocolVersion: message.params?.protocolVersion, capabilities, serverInfo };
    }
    if (message.method === 'tools/list')
      return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    return { content: [{ type: 'text', text: message.params?.arguments?.text }] };
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    seen.push({ method: request.method, headers: request.headers });
    if (request.url === '/mcp') {
      response.writeHead(307, { location: '/mcp/' }).end();
      return;
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.push(response);
      return;
    }
    if (request.method === 'DELETE') {
      response.writeHead(204).end();
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const message = JSON.parse(body) as Message;
      if (message.id === undefined) {
        response.writeHead(202).end();
        return;
      }
      const text = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: answer(message) });
      if (message.method === 'tools/call') {
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .write(`event: message\ndata: ${text}\n\n`);
        // Left open: the client must take the event before the end.
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's-1' }).end(text);
    });
  };
  return { seen, streams, listener };
}

afterEach(stopServers);

describe('the MCP SDK', () => {
  test("its client works over the guarded fetch, from hand-shake to the session's end", async () => {
    const server = createMcpServer();
    const port = await startHttpServer(server.listener);
    const { egress } = createEgressRig({
      dial: systemDial,
      settings: { allowedAddresses: [`127.0.0.1:${port}`] },
    });
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
      fetch: egress.fetchFor({ audience: 'user-server' }),
      requestInit: { headers: { authorization: 'Bearer user-token' } },
      redirectPolicy: 'follow',
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo']);
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
    expect(result.content).toEqual([{ type: 'text', text: 'hello' }]);

    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', () => resolve());
    });
    const stream = await eventually('the GET stream opens', () => server.streams[0]);
    stream.write('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n');
    await changed;

    await transport.terminateSession();
    expect(server.seen.at(-1)!.method).toBe('DELETE');
    expect(server.seen.every(({ headers }) => headers.authorization === 'Bearer user-token')).toBe(true);
    expect(server.seen.every(({ headers }) => headers[HOP_HEADER] !== undefined)).toBe(true);
    await client.close();
    await eventually('the stream is closed', () => stream.destroyed);
    await egress.close();
  });

  test('a refusal reaches its caller as the typed error', async () => {
    const { egress, dials } = createEgressRig({ dial: systemDial });
    const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1:9/mcp'), {
      fetch: egress.fetchFor({ audience: 'user-server' }),
    });
    const error: unknown = await new Client({ name: 'test', version: '1.0.0' })
      .connect(transport)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EgressError);
    expect(error).toMatchObject({ reason: 'private_address' });
    expect(dials).toEqual([]);
  });
});
