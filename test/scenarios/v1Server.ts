import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface V1Server {
  readonly url: string;
  /** Tool calls that ran. */
  readonly calls: number;
  close(): Promise<void>;
}

/** A server made with the SDK's first line, stateless: what most servers in the world are. */
export async function startV1Server(): Promise<V1Server> {
  let calls = 0;
  const listener = createServer((req, res) => {
    const server = new McpServer({ name: 'v1', version: '1.0.0' });
    server.registerTool('greet', { inputSchema: { name: z.string() } }, ({ name }) => {
      calls += 1;
      return { content: [{ type: 'text', text: `Hello, ${name}` }] };
    });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined as unknown as () => string,
      enableJsonResponse: true,
    });
    void server.connect(transport as never).then(() => transport.handleRequest(req, res));
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    get calls() {
      return calls;
    },
    close: () =>
      new Promise((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}
