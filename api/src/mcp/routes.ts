import type { HotExchange, HotRoute } from '../http.ts';
import { UnreadableBody } from '../door/readJsonBody.ts';
import { jsonRpcNumber, type Problem } from '@behalf/contracts';
import { endpointOfAll, endpointOfOne, type DoorEndpoint } from './doorEndpoint.ts';
import { faultText, RpcFault, rpcCode } from './rpcFault.ts';

/** What can be done at an endpoint. */
export interface McpHandlers {
  post(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
  get(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
  delete(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
}

/** The one endpoint of all servers of a caller, and one for each. Tokens and keys open it, a cookie does not. */
export function mcpRoutes(handlers: McpHandlers): HotRoute[] {
  const paths = [
    { path: '/mcp', endpointOf: endpointOfAll },
    { path: '/mcp/:serverName', endpointOf: endpointOfOne },
  ];
  return paths.flatMap(({ path, endpointOf }) =>
    (['post', 'get', 'delete'] as const).map((method) => ({
      ...({ method, path, access: 'caller', scope: 'mcp', programs: true, guests: true } as const),
      refusal,
      hot: (exchange: HotExchange) => handlers[method](exchange, endpointOf(exchange)),
    })),
  );
}

/** What is refused before it is a message: clients read JSON-RPC, whatever the status says. */
function refusal(problem: Problem, error: unknown): string {
  const unread = error instanceof UnreadableBody;
  return faultText(
    null,
    new RpcFault(unread ? rpcCode.parse : jsonRpcNumber(problem.code), problem.detail, {
      data: { code: problem.code },
    }),
  );
}
