import type { BenchGateway } from './gatewayProcess.ts';
import type { LoadRequest } from './loadJob.ts';
import { openSession, createRpcCall } from './rig.ts';

/** URL and headers of an MCP client, besides those of its era. */
export interface McpAccess {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The endpoint for all servers, with an API key of the first user. The endpoint does not accept cookies. */
export async function createMcpAccess({ port, headers }: BenchGateway): Promise<McpAccess> {
  const origin = `http://127.0.0.1:${port}`;
  const response = await fetch(`${origin}/api/user/keys`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: ['mcp'] }),
  });
  if (response.status !== 201) throw new Error(`No API key: ${await response.text()}`);
  const { key } = (await response.json()) as { key: string };
  return { url: `${origin}/mcp`, headers: { authorization: `Bearer ${key}` } };
}

/** A call within a session. */
export async function createLegacyCall(
  { url, headers }: McpAccess,
  tool: string,
  args: object,
): Promise<LoadRequest> {
  const session = await openSession(url, headers);
  return {
    path: new URL(url).pathname,
    headers: { ...headers, ...session },
    body: createRpcCall(tool, args),
  };
}

const META_PREFIX = 'io.modelcontextprotocol';
const PROTOCOL_VERSION = '2026-07-28';

/** A stateless call. */
export function createModernCall(access: McpAccess, tool: string, args: object): LoadRequest {
  return createModernRequest(access, 'tools/call', { name: tool, arguments: args });
}

/** A stateless request of any method. */
export function createModernRequest(
  { url, headers }: McpAccess,
  method: string,
  params: { readonly name?: string; readonly [key: string]: unknown },
): LoadRequest {
  const _meta = {
    [`${META_PREFIX}/protocolVersion`]: PROTOCOL_VERSION,
    [`${META_PREFIX}/clientCapabilities`]: {},
    [`${META_PREFIX}/clientInfo`]: { name: 'bench', version: '1.0.0' },
  };
  const { pathname, search } = new URL(url);
  return {
    path: pathname + search,
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': PROTOCOL_VERSION,
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
    },
    body: JSON.stringify({ ...{ jsonrpc: '2.0', id: 1, method }, params: { ...params, _meta } }),
  };
}
