import { type Problem, jsonRpcNumber } from '@behalf/contracts';
import { type EndpointSelector, GatewayError } from '@behalf/gateway';
import { UnreadableBody } from '../../http/request.ts';
import type { FastExchange, FastRoute } from '../../http/route.ts';
import { RpcFault, rpcCode, rpcErrorText } from './rpc.ts';

/** What can be done at an endpoint. */
interface McpHandlers {
  post(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
  get(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
  delete(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
}

/** The one endpoint of all servers of a caller, and one for each. Tokens and keys open it, a cookie does not. */
export function mcpRoutes(handlers: McpHandlers): FastRoute[] {
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

/** What is refused before it is a message: clients read JSON-RPC, whatever the status says. */
function formatError(problem: Problem, error: unknown): string {
  const isUnreadable = error instanceof UnreadableBody;
  return rpcErrorText(
    null,
    new RpcFault(isUnreadable ? rpcCode.parse : jsonRpcNumber(problem.code), problem.detail, {
      data: { code: problem.code },
    }),
  );
}

/** An endpoint as its client wants to see it: with all tools, or with those by which the others are found. */
export type ClientEndpoint = EndpointSelector & { readonly search: boolean };

const ALL_SERVERS: ClientEndpoint = Object.freeze({ kind: 'all', search: false });

function readAllServersEndpoint({ query }: FastExchange): ClientEndpoint {
  return query === '' ? ALL_SERVERS : { kind: 'all', search: isSearchMode(query) };
}

function readServerEndpoint({ params, query }: FastExchange): ClientEndpoint {
  return { kind: 'one', server: params['serverName'] ?? '', search: query !== '' && isSearchMode(query) };
}

/** Whoever asks for something that there is not would otherwise be shown a thousand tools without knowing why. */
function isSearchMode(query: string): boolean {
  const values = new URLSearchParams(query).getAll('tools');
  if (values.length === 0) return false;
  if (values.length === 1 && values[0] === 'search') return true;
  throw new GatewayError('REQUEST_INVALID', {
    detail: 'The query parameter "tools" must be "search" or omitted.',
  });
}

/**
 * One text per endpoint: what is sealed for one does not open at another. So it is with the two ways to see one: the same words
 * mean another tool there. Paths begin with a slash, so that no name of a server makes one of the other.
 */
export function endpointKey(endpoint: ClientEndpoint): string {
  const path = endpoint.kind === 'one' ? `/mcp/${endpoint.server}` : '/mcp';
  return endpoint.search ? `search:${path}` : path;
}
