import { httpStatus } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { ProblemResponse as ProblemAnswer } from '../middleware/problem.ts';
import type { InFlightLimiter } from '../rest/mcp/inFlightLimiter.ts';
import type { McpRequest, Method } from './mcpRequest.ts';
import { toRpcFault, rpcErrorText, rpcResultText, RpcFault, rpcCode } from './rpcFault.ts';

export interface ServeRequestParts {
  readonly inFlight: InFlightLimiter;
  readonly problemOf: (error: unknown) => ProblemAnswer;
}

/** Serves one request and answers it, in whichever era. */
export type ServeRequest = (mcpRequest: McpRequest, method: Method | undefined) => Promise<void>;

export function createServeRequest({ inFlight, problemOf }: ServeRequestParts): ServeRequest {
  return async (mcpRequest, method) => {
    const { caller, id, reply, signal } = mcpRequest;
    try {
      if (!method)
        throw new RpcFault(rpcCode.methodNotFound, 'Method not found', notFoundStatus(mcpRequest.era));
      inFlight.acquire(caller.userId);
      try {
        const result = method(mcpRequest);
        const text = typeof result === 'string' ? result : await result;
        reply.finish(rpcResultText(id, text), 200);
      } finally {
        inFlight.release(caller.userId);
      }
    } catch (error) {
      // Whoever cancelled waits for nothing.
      if (signal.aborted) {
        reply.abandon();
        return;
      }
      // The caller's own token is the matter, and there is still a status to say it with.
      if (error instanceof GatewayError && httpStatus(error.code) === 401 && !reply.isStarted) {
        reply.close();
        throw error;
      }
      const fault = toClientFault(error, mcpRequest, problemOf);
      reply.finish(rpcErrorText(id, fault), fault.status);
    }
  };
}

/** In the modern era a method that is not there is told by the status too. */
function notFoundStatus(era: McpRequest['era']): { status: number } {
  return { status: era === 'modern' ? 404 : 200 };
}

export function toClientFault(
  error: unknown,
  { era, params, endpoint }: Pick<McpRequest, 'era' | 'params' | 'endpoint'>,
  problemOf: ServeRequestParts['problemOf'],
): RpcFault {
  if (error instanceof RpcFault) return error;
  if (error instanceof GatewayError) {
    const { code, detail } = error;
    // An endpoint of one server has the methods of that server. The one of all has them all.
    if (code === 'MCP_METHOD_NOT_FOUND' && endpoint.kind === 'one')
      return new RpcFault(rpcCode.methodNotFound, detail, { data: { code }, ...notFoundStatus(era) });
    return toRpcFault(error, era, params);
  }
  const { code, detail } = problemOf(error).problem;
  return toRpcFault(new GatewayError(code, { detail }), era);
}
