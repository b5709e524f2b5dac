import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../src/upstream/upstream.ts';

interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An HTTP+SSE MCP server that the test drives. */
export interface ScriptedSseServer {
  readonly port: number;
  readonly url: string;
  /** Every request that came in. */
  readonly requests: {
    readonly verb: string;
    readonly headers: IncomingHttpHeaders;
    /** All of them: `headers` keeps the first alone. */
    readonly authorizations: readonly string[];
  }[];
  readonly streams: ServerResponse[];
  readonly receivedMessages: JsonObject[];
  /** Answers to messages that were left without their body. */
  readonly posts: ServerResponse[];
  refuseStream: Refusal | undefined;
  refusePost: Refusal | ((message: JsonObject) => Refusal | undefined) | undefined;
  /** Announces a body with every 202 and never sends it. */
  shouldStallPosts: boolean;
  /** What the `endpoint` event names; undefined sends none. */
  endpoint: string | undefined;
  /** True when a message gets no usual answer. */
  respond: (message: JsonObject, stream: ServerResponse) => boolean;
  send(message: JsonObject): void;
  close(): Promise<void>;
}

export async function startSseServer(): Promise<ScriptedSseServer> {
  const requests: ScriptedSseServer['requests'] = [];
  const streams: ServerResponse[] = [];
  const receivedMessages: JsonObject[] = [];
  const posts: ServerResponse[] = [];
  const sendRefusal = (response: ServerResponse, { status, headers, body }: Refusal) =>
    response.writeHead(status, { ...headers }).end(body);

  const server = createServer((request, response) => {
    const { headers, headersDistinct } = request;
    requests.push({ verb: request.method!, headers, authorizations: headersDistinct['authorization'] ?? [] });
    if (request.method === 'GET') {
      if (scripted.refuseStream) return sendRefusal(response, scripted.refuseStream);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.push(response);
      if (scripted.endpoint !== undefined) response.write(`event: endpoint\ndata: ${scripted.endpoint}\n\n`);
      return undefined;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const message = JSON.parse(body) as JsonObject;
      const { refusePost } = scripted;
      const refusal = typeof refusePost === 'function' ? refusePost(message) : refusePost;
      if (refusal) return sendRefusal(response, refusal);
      if (scripted.shouldStallPosts) {
        posts.push(response.writeHead(202, { 'content-length': '8' }));
        response.flushHeaders();
      } else response.writeHead(202).end('Accepted');
      receivedMessages.push(message);
      const stream = streams.at(-1)!;
      if (scripted.respond(message, stream)) return undefined;
      const { id, method, params } = message;
      if (method === 'initialize') {
        const serverInfo = { name: 'events', version: '1' };
        const { protocolVersion } = params as JsonObject;
        scripted.send({ id, result: { protocolVersion, capabilities: {}, serverInfo } });
      } else if (id !== undefined && method !== undefined) scripted.send({ id, result: { content: [] } });
      return undefined;
    });
    return undefined;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const scripted: ScriptedSseServer = {
    port,
    url: `http://127.0.0.1:${port}/sse`,
    requests,
    streams,
    receivedMessages,
    refuseStream: undefined,
    refusePost: undefined,
    shouldStallPosts: false,
    posts,
    endpoint: '/message?session=1',
    respond: () => false,
    send: (message) =>
      void streams
        .at(-1)!
        .write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return scripted;
}
