import { httpStatus } from '@behalf/contracts';
import { GatewayError } from '@behalf/gateway';
import type { Answer as ProblemAnswer } from '../middleware/problem.ts';
import type { InFlight } from '../rest/mcp/inFlight.ts';
import type { Asked, Method } from './asked.ts';
import { faultOf, faultText, resultText, RpcFault, rpcCode } from './rpcFault.ts';

export interface ServeParts {
  readonly inFlight: InFlight;
  readonly problemOf: (error: unknown) => ProblemAnswer;
}

/** Serves one request and answers it, in whichever era. */
export type ServeRequest = (asked: Asked, method: Method | undefined) => Promise<void>;

export function createServeRequest({ inFlight, problemOf }: ServeParts): ServeRequest {
  return async (asked, method) => {
    const { caller, id, reply, signal } = asked;
    try {
      if (!method) throw new RpcFault(rpcCode.methodNotFound, 'Method not found', notFoundStatus(asked.era));
      inFlight.enter(caller.userId);
      try {
        const made = method(asked);
        const text = typeof made === 'string' ? made : await made;
        reply.finish(resultText(id, text), 200);
      } finally {
        inFlight.leave(caller.userId);
      }
    } catch (error) {
      // Whoever cancelled waits for nothing.
      if (signal.aborted) {
        reply.abandon();
        return;
      }
      // The caller's own token is the matter, and there is still a status to say it with.
      if (error instanceof GatewayError && httpStatus(error.code) === 401 && !reply.begun) {
        reply.close();
        throw error;
      }
      const fault = toFault(error, asked, problemOf);
      reply.finish(faultText(id, fault), fault.status);
    }
  };
}

/** In the modern era a method that is not there is told by the status too. */
function notFoundStatus(era: Asked['era']): { status: number } {
  return { status: era === 'modern' ? 404 : 200 };
}

export function toFault(
  error: unknown,
  { era, params, endpoint }: Pick<Asked, 'era' | 'params' | 'endpoint'>,
  problemOf: ServeParts['problemOf'],
): RpcFault {
  if (error instanceof RpcFault) return error;
  if (error instanceof GatewayError) {
    const { code, detail } = error;
    // An endpoint of one server has the methods of that server. The one of all has them all.
    if (code === 'MCP_METHOD_NOT_FOUND' && endpoint.kind === 'one')
      return new RpcFault(rpcCode.methodNotFound, detail, { data: { code }, ...notFoundStatus(era) });
    return faultOf(error, era, params);
  }
  const { code, detail } = problemOf(error).problem;
  return faultOf(new GatewayError(code, { detail }), era);
}
