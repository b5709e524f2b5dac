import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { testCertificate, testKey } from '../../egress/test/certificate.ts';
import type { JsonObject } from '../src/upstream/upstream.ts';

/** A websocket MCP server that the test drives. */
export interface ScriptedWebSocketServer {
  readonly port: number;
  readonly url: string;
  /** The headers of every upgrade that came in, refused ones too. */
  readonly upgrades: IncomingHttpHeaders[];
  readonly sockets: WebSocket[];
  /** Every message that arrived. */
  readonly receivedMessages: JsonObject[];
  /** What the server sends or does for a message besides its usual answer; true when there is no other. */
  respond: (message: JsonObject, socket: WebSocket) => boolean;
  /** A status that refuses the upgrade. */
  refusal: { readonly status: number; readonly headers?: Readonly<Record<string, string>> } | undefined;
  close(): Promise<void>;
}

export async function startWebSocketServer({
  protocol = 'mcp',
  tls = false,
}: { protocol?: string | false; tls?: boolean } = {}): Promise<ScriptedWebSocketServer> {
  const upgrades: IncomingHttpHeaders[] = [];
  const sockets: WebSocket[] = [];
  const receivedMessages: JsonObject[] = [];
  const http = tls ? createTlsServer({ cert: testCertificate, key: testKey }) : createServer();
  const server = new WebSocketServer({
    server: http,
    handleProtocols: () => protocol,
    verifyClient: ({ req }, done) => {
      upgrades.push(req.headers);
      const { refusal } = scripted;
      if (refusal) done(false, refusal.status, 'no', { ...refusal.headers });
      else done(true);
    },
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;

  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as JsonObject;
      receivedMessages.push(message);
      if (scripted.respond(message, socket)) return;
      const { id, method, params } = message;
      const sendResult = (result: JsonObject) => socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
      if (method === 'initialize') {
        const serverInfo = { name: 'socket', version: '1' };
        sendResult({
          protocolVersion: (params as JsonObject)['protocolVersion'],
          capabilities: { tools: {} },
          serverInfo,
        });
      }
      if (method === 'tools/list') sendResult({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] });
      if (method === 'tools/call') sendResult({ content: [{ type: 'text', text: JSON.stringify(params) }] });
    });
  });

  const scripted: ScriptedWebSocketServer = {
    port,
    url: `${tls ? 'wss' : 'ws'}://127.0.0.1:${port}/mcp`,
    upgrades,
    sockets,
    receivedMessages,
    respond: () => false,
    refusal: undefined,
    async close() {
      for (const socket of sockets) socket.terminate();
      server.close();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
  return scripted;
}
