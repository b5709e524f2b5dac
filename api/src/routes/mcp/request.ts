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
import { type Cancellation, isObject } from '@behalf/kernel';
import type { ProblemResponse } from '../../http/errors.ts';
import type { InFlightLimiter } from '../../http/limits.ts';
import { traceContext } from '../../http/inbound.ts';
import type { ClientEndpoint } from './endpoint.ts';
import { logLevels } from './era.ts';
import { RpcFault, type RpcId, rpcCode, rpcErrorText, rpcResultText, toRpcFault } from './rpc.ts';
import type { McpSession } from './session/sessions.ts';
import type { Reply } from './stream/reply.ts';

/** A request of a client of either era: the input of all methods. */
export interface McpRequest {
  readonly caller: Principal;
  readonly endpoint: ClientEndpoint;
  readonly era: Era;
  /** The protocol revision. */
  readonly version: string;
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  /** The capabilities of the client: of its session, or declared with this request. */
  readonly capabilities: JsonObject;
  /** The minimum level of log messages. Undefined if the client did not set one. */
  readonly logLevel: string | undefined;
  /** Only in the legacy era. */
  readonly session: McpSession | undefined;
  readonly signal: Cancellation;
  readonly reply: Reply;
  readonly headers: IncomingHttpHeaders;
}

/** Returns the serialized result. */
export type Method = (mcpRequest: McpRequest) => string | Promise<string>;

export interface ServeRequestParts {
  readonly inFlight: InFlightLimiter;
  readonly problemOf: (error: unknown) => ProblemResponse;
}

/** Runs the method of a request and sends its response. */
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
      // A canceled request has no response.
      if (signal.aborted) {
        reply.abandon();
        return;
      }
      // The caller must authenticate again: an HTTP 401 with a challenge (RFC 9728) starts the client's authorization flow.
      if (error instanceof GatewayError && httpStatus(error.code) === 401 && !reply.isStarted) {
        reply.close();
        throw error;
      }
      const fault = toClientFault(error, mcpRequest, problemOf);
      reply.finish(rpcErrorText(id, fault), fault.status);
    }
  };
}

/** The modern era requires the status 404 for an unknown method. */
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
    // The endpoint of one server has only the methods of that server.
    if (code === 'MCP_METHOD_NOT_FOUND' && endpoint.kind === 'one')
      return new RpcFault(rpcCode.methodNotFound, detail, { data: { code }, ...notFoundStatus(era) });
    return toRpcFault(error, era, params);
  }
  const { code, detail } = problemOf(error).problem;
  return toRpcFault(new GatewayError(code, { detail }), era);
}

/** The level for legacy clients that never called `logging/setLevel`. */
const DEFAULT_LOG_LEVEL = 'info';

/** Converts a request into the input of the gateway. `sendRequest`: sends requests of the server to the client. */
export function createMcpInbound(
  mcpRequest: McpRequest,
  id: string,
  sendRequest?: InboundPeer['sendRequest'],
  retry?: InboundPeer['retry'],
): Inbound {
  const { caller, signal, headers, params, reply, logLevel, era, capabilities } = mcpRequest;
  const meta = params['_meta'];
  const hop = headers[hopHeader];
  // The trace context of the body has priority: a proxy may have replaced the headers.
  const trace = (isObject(meta) && traceContext(meta as McpRequest['headers'])) || traceContext(headers);
  const token = isObject(meta) ? meta['progressToken'] : undefined;
  const effectiveLevel = logLevel ?? (era === 'legacy' ? DEFAULT_LOG_LEVEL : undefined);
  // A modern client without capabilities needs a peer for the error that names the missing ones. A legacy client does not.
  const hasPeer = era === 'modern' || supportsServerRequests(capabilities) || logLevel !== undefined;
  // Assigned one by one: on the hot path this is faster than spreading optional members.
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
      ...(sendRequest && { sendRequest }),
      ...(retry && { retry }),
      ...(logLevel !== undefined && { logLevel }),
    };
  }
  return inbound;
}

/** Whether the client declared a capability that a server can use. */
export function supportsServerRequests({ elicitation, sampling, roots }: JsonObject): boolean {
  return elicitation !== undefined || sampling !== undefined || roots !== undefined;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Forwards progress with the client's token. Progress must increase (MCP, progress), so other values are dropped. */
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
