import type { FastExchange, FastRoute } from '../http/routes.ts';
import { UnreadableBody } from '../http/readJsonBody.ts';
import { jsonRpcNumber, type Problem } from '@behalf/contracts';
import { readAllServersEndpoint, readServerEndpoint, type ClientEndpoint } from './clientEndpoint.ts';
import { rpcErrorText, RpcFault, rpcCode } from './rpcFault.ts';

/** What can be done at an endpoint. */
export interface McpHandlers {
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
