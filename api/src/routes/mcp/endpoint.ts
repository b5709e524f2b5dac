import { type Problem, jsonRpcNumber } from '@behalf/contracts';
import { type EndpointSelector, GatewayError } from '@behalf/gateway';
import { UnreadableBody } from '../../http/request.ts';
import type { FastExchange, FastRoute } from '../../http/route.ts';
import { RpcFault, rpcCode, rpcErrorText } from './rpc.ts';

type McpHandler = (exchange: FastExchange, endpoint: ClientEndpoint) => Promise<void>;

/**
 * The routes of the MCP endpoint: `/mcp` for all servers of the caller, `/mcp/<server>` for one. They accept bearer tokens and
 * API keys, but no cookies.
 */
export function mcpRoutes(handlers: Record<'post' | 'get' | 'delete', McpHandler>): FastRoute[] {
  const paths = [
    { path: '/mcp', endpointOf: readAllServersEndpoint },
    { path: '/mcp/:serverName', endpointOf: readServerEndpoint },
  ];
  return paths.flatMap(({ path, endpointOf }) =>
    (['post', 'get', 'delete'] as const).map((method) => ({
      ...({
        method,
        path,
        access: 'caller',
        scope: 'mcp',
        isTokenOnly: true,
        allowsCrossOrigin: true,
      } as const),
      formatError,
      handleFast: (exchange: FastExchange) => handlers[method](exchange, endpointOf(exchange)),
    })),
  );
}

/** Errors before a message was read. MCP clients expect a JSON-RPC error for every status. */
function formatError(problem: Problem, error: unknown): string {
  const isUnreadable = error instanceof UnreadableBody;
  return rpcErrorText(
    null,
    new RpcFault(isUnreadable ? rpcCode.parse : jsonRpcNumber(problem.code), problem.detail, {
      data: { code: problem.code },
    }),
  );
}

/** `search`: the endpoint lists only the tools `search_tools` and `call_tool`. */
export type ClientEndpoint = EndpointSelector & { readonly search: boolean };

const ALL_SERVERS: ClientEndpoint = Object.freeze({ kind: 'all', search: false });

function readAllServersEndpoint({ query }: FastExchange): ClientEndpoint {
  return query === '' ? ALL_SERVERS : { kind: 'all', search: isSearchMode(query) };
}

function readServerEndpoint({ params, query }: FastExchange): ClientEndpoint {
  return { kind: 'one', server: params['serverName'] ?? '', search: query !== '' && isSearchMode(query) };
}

/** Refuses an unknown value: with a typing error, the client would receive all tools without an explanation. */
function isSearchMode(query: string): boolean {
  const values = new URLSearchParams(query).getAll('tools');
  if (values.length === 0) return false;
  if (values.length === 1 && values[0] === 'search') return true;
  throw new GatewayError('REQUEST_INVALID', {
    detail: 'The query parameter "tools" must be "search" or omitted.',
  });
}

/**
 * Identifies an endpoint in sealed values, so that a value sealed for one endpoint does not open at another. Search mode is a
 * separate endpoint because the same tool name means another tool there. Paths begin with a slash, so no server name collides
 * with the prefix.
 */
export function endpointKey(endpoint: ClientEndpoint): string {
  const path = endpoint.kind === 'one' ? `/mcp/${endpoint.server}` : '/mcp';
  return endpoint.search ? `search:${path}` : path;
}
