import { Client } from '@modelcontextprotocol/client';
import { createStdioTransport, type StdioCommand, type StdioParts } from './stdioTransport.ts';
import type { Upstream, UpstreamTool } from './upstream.ts';

export interface UpstreamLimits {
  /** For connecting, `initialize` included. */
  initTimeoutMs: number;
  /** For one request. */
  timeoutMs: number;
  /** Pages of a tool list that are read, and tools that are kept. */
  maxPages: number;
  maxTools: number;
}

export interface UpstreamParts extends StdioParts {
  limits: UpstreamLimits;
  /** Our own, as told to the server. */
  version: string;
}

/**
 * The SDK would compile the server's output schemas and check its results against them on our event loop, where a
 * hostile `pattern` stops everybody. A result is passed on as it came.
 */
const believing = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
};

export async function openStdioUpstream(
  server: StdioCommand,
  { limits, version, ...parts }: UpstreamParts,
  signal: AbortSignal,
): Promise<Upstream> {
  const client = new Client(
    { name: 'behalf', version },
    { capabilities: {}, jsonSchemaValidator: believing },
  );
  const listeners = new Set<() => void>();
  let closed = false;
  client.onclose = () => {
    closed = true;
    for (const listener of listeners) listener();
    listeners.clear();
  };
  const transport = createStdioTransport(server, parts);
  try {
    await client.connect(transport, { signal, timeout: limits.initTimeoutMs });
  } catch (error) {
    await transport.close();
    throw error;
  }
  const options = (caller: AbortSignal | undefined) => ({
    timeout: limits.timeoutMs,
    ...(caller && { signal: caller }),
  });

  return {
    async listTools(caller) {
      const tools: UpstreamTool[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < limits.maxPages && tools.length < limits.maxTools; page += 1) {
        const answer = await client.listTools(cursor === undefined ? {} : { cursor }, options(caller));
        tools.push(...(answer.tools as UpstreamTool[]));
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
      }
      return tools.slice(0, limits.maxTools);
    },
    callTool: (name, args, caller) => client.callTool({ name, arguments: args }, options(caller)),
    onClose(listener) {
      // It may have ended before anybody could listen.
      if (closed) listener();
      else listeners.add(listener);
    },
    async close() {
      await client.close();
      await transport.close();
    },
  };
}
