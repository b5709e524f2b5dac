import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** One request as it arrived, byte for byte. */
export interface TokenEndpointRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly form: Readonly<Record<string, string>>;
}

/** `hang`: no answer, ever. `close`: the socket ends. `cut`: it ends in the middle of the body. */
export type TokenEndpointReply =
  | 'hang'
  | 'close'
  | 'cut'
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON, text as it is. */
      readonly body?: unknown;
    };

/** A token endpoint over real HTTP that says what a test tells it to, on every path. */
export interface TestTokenEndpoint {
  readonly origin: string;
  readonly port: number;
  readonly requests: TokenEndpointRequest[];
  /** From now on. */
  reply: (request: TokenEndpointRequest) => TokenEndpointReply;
  close(): Promise<void>;
}

/** What a token endpoint says to a good request. */
export function createTokenReply(overrides: Readonly<Record<string, unknown>> = {}): TokenEndpointReply {
  return { body: { access_token: 'exchanged-token', token_type: 'Bearer', expires_in: 3599, ...overrides } };
}

export async function startTokenEndpoint(tls?: { key: string; cert: string }): Promise<TestTokenEndpoint> {
  async function handleRequest(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const request = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body,
      form: Object.fromEntries(new URLSearchParams(body)),
    };
    endpoint.requests.push(request);
    const reply = endpoint.reply(request);
    if (reply === 'hang') return;
    if (reply === 'close') return void req.socket.destroy();
    if (reply === 'cut') {
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      res.write('{"access_token":"half', () => req.socket.destroy());
      return;
    }
    const responseText = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {});
    res
      .writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
      .end(responseText);
  }

  const listener = (req: IncomingMessage, res: ServerResponse) => void handleRequest(req, res);
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint: TestTokenEndpoint = {
    origin: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    port,
    requests: [],
    reply: () => createTokenReply(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return endpoint;
}
