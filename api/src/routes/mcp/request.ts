import type { IncomingHttpHeaders } from 'node:http';
import { hopHeader, httpStatus } from '@behalf/contracts';
import {
  type Era,
  GatewayError,
  type Inbound,
  type InboundPeer,
  type JsonObject,
  type Principal,
} from '@behalf/gateway';
import type { Cancellation } from '@behalf/kernel';
import type { ProblemResponse as ProblemAnswer } from '../../http/errors.ts';
import type { InFlightLimiter } from '../../http/limits.ts';
import { traceContext } from '../rest/serverResponder.ts';
import type { ClientEndpoint } from './endpoint.ts';
import { logLevels } from './era.ts';
import { RpcFault, type RpcId, isObject, rpcCode, rpcErrorText, rpcResultText, toRpcFault } from './rpc.ts';
import type { McpSession } from './session/sessions.ts';
import type { Reply } from './stream/reply.ts';

/** One request of a client, of either era: what the methods work on. */
export interface McpRequest {
  readonly caller: Principal;
  readonly endpoint: ClientEndpoint;
  readonly era: Era;
  /** The revision that is spoken. */
  readonly version: string;
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** Of the client, as it declared them: for its session, or with this request. */
  readonly capabilities: JsonObject;
  /** From which level on it wants to hear what a server logs; undefined: nothing. */
  readonly logLevel: string | undefined;
  /** Of the legacy era alone. */
  readonly session: McpSession | undefined;
  readonly signal: Cancellation;
  readonly reply: Reply;
  readonly headers: IncomingHttpHeaders;
}

/** Gives the text of the result. */
export type Method = (mcpRequest: McpRequest) => string | Promise<string>;

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

/** What a client hears that never said how much it wants to hear. */
const DEFAULT_LOG_LEVEL = 'info';

/** What the MCP door knows of a request to a server. */
export function createMcpInbound(
  mcpRequest: McpRequest,
  id: string,
  ask?: InboundPeer['sendRequest'],
  retry?: InboundPeer['retry'],
): Inbound {
  const { caller, signal, headers, params, reply, logLevel, era, capabilities } = mcpRequest;
  const meta = params['_meta'];
  const hop = headers[hopHeader];
  // Of the request itself where it says so: what stands between may have put its own into the headers.
  const trace = (isObject(meta) && traceContext(meta as McpRequest['headers'])) || traceContext(headers);
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  const effectiveLevel = logLevel ?? (era === 'legacy' ? DEFAULT_LOG_LEVEL : undefined);
  // A modern client also hears what it would have to declare; a session that declared nothing has nobody to ask.
  const hasPeer = era === 'modern' || supportsServerRequests(capabilities) || logLevel !== undefined;
  // Written down member by member: for most calls most of it is absent.
  const inbound: Writable<Inbound> = {
    principal: caller,
    door: 'mcp',
    id: trace?.traceparent.slice(3, 35) ?? id,
    signal,
  };
  if (typeof hop === 'string') inbound.hop = hop;
  if (trace) inbound.trace = trace;
  if (typeof token === 'string' || typeof token === 'number')
    inbound.onProgress = createProgressHandler(reply, token);
  if (effectiveLevel !== undefined) inbound.onLog = createLogHandler(effectiveLevel, reply);
  if (hasPeer) {
    inbound.peer = {
      capabilities,
      era,
      ...(ask && { sendRequest: ask }),
      ...(retry && { retry }),
      ...(logLevel !== undefined && { logLevel }),
    };
  }
  return inbound;
}

/** Whether the client declared anything that a server could ask of it. */
export function supportsServerRequests({ elicitation, sampling, roots }: JsonObject): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Under the client's own token, and never backwards: what does not go up is no progress. */
function createProgressHandler(reply: Reply, token: string | number): (params: JsonObject) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    if (typeof progress !== 'number' || progress <= last) return;
    last = progress;
    reply.notify('notifications/progress', {
      progressToken: token,
      progress,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message }),
    });
  };
}

function createLogHandler(level: string, reply: Reply): (params: JsonObject) => void {
  const minIndex = logLevels.indexOf(level);
  return (params) => {
    if (logLevels.indexOf(String(params['level'])) >= minIndex) reply.notify('notifications/message', params);
  };
}
