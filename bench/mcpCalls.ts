import type { BenchGateway } from './gatewayProcess.ts';
import type { LoadRequest } from './loadJob.ts';
import { openSession, rpcCall } from './stage.ts';

/** What an MCP client sends with each request, beside what its era wants. */
export interface McpAccess {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint of all servers, and a key of the gateway's first user: a cookie does not open it. */
export async function mcpAccess({ port, headers }: BenchGateway): Promise<McpAccess> {
  const origin = `http://127.0.0.1:${port}`;
  const answer = await fetch(`${origin}/api/user/keys`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['mcp'] }),
  });
  if (answer.status !== 201) throw new Error(`No API key: ${await answer.text()}`);
  const { key } = (await answer.json()) as { key: string };
  return { url: `${origin}/mcp`, headers: { authorization: `Bearer ${key}` } };
}

/** A call in a session. */
export async function legacyCall(
  { url, headers }: McpAccess,
  tool: string,
  args: object,
): Promise<LoadRequest> {
  const session = await openSession(url, headers);
  return { path: new URL(url).pathname, headers: { ...headers, ...session }, body: rpcCall(tool, args) };
}

const META = 'io.modelcontextprotocol';
const VERSION = '2026-07-28';

/** A call that stands for itself. */
export function modernCall(access: McpAccess, tool: string, args: object): LoadRequest {
  return modernRequest(access, 'tools/call', { name: tool, arguments: args });
}

/** The same of any method. */
export function modernRequest(
  { url, headers }: McpAccess,
  method: string,
  params: { readonly name?: string; readonly [key: string]: unknown },
): LoadRequest {
  const _meta = {
    [`${META}/protocolVersion`]: VERSION,
    [`${META}/clientCapabilities`]: {},
    [`${META}/clientInfo`]: { name: 'bench', version: '1.0.0' },
  };
  const { pathname, search } = new URL(url);
  return {
    path: pathname + search,
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': VERSION,
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
    },
    body: JSON.stringify({ ...{ jsonrpc: '2.0', id: 1, method }, params: { ...params, _meta } }),
  };
}
