import type { IncomingHttpHeaders } from 'node:http';
import { type EndpointParts, endpointServers } from '@behalf/gateway';
import type { FastExchange } from '../../http/route.ts';
import type { ClientEndpoint } from './endpoint.ts';
import { MODERN_VERSION, type ModernEnvelope, readEra, singleHeader } from './era.ts';
import type { LegacyHandler } from './legacyHandler.ts';
import type { Listen } from './methods/listen.ts';
import type { McpRequest, Method, ServeRequest } from './request.ts';
import {
  RpcFault,
  type RpcRequest,
  invalidRequest,
  readRpcId,
  readRpcMessage,
  rpcCode,
  rpcErrorText,
} from './rpc.ts';
import { type ReplyParts, acceptsEventStream, createReply, sendAccepted } from './stream/reply.ts';

interface McpPostHandlerParts extends ReplyParts {
  readonly servers: EndpointParts;
  /** By name, for clients of the modern era. */
  readonly modern: ReadonlyMap<string, Method>;
  readonly legacy: LegacyHandler;
  readonly serve: ServeRequest;
  readonly listen: Listen;
}

/** One endpoint, both eras: what a body says decides which. */
interface McpPostHandler {
  post(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
}

export function createMcpPostHandler(parts: McpPostHandlerParts): McpPostHandler {
  const { servers, modern, legacy, serve, listen } = parts;

  async function serveModern(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    request: RpcRequest,
    { capabilities, logLevel }: ModernEnvelope,
  ): Promise<void> {
    const { req, caller, signal } = exchange;
    if (!acceptsJsonAndEvents(req.headers)) throw notAcceptable();
    const { id, method, params } = request;
    // A stream without an answer, for as long as both want it.
    if (method === 'subscriptions/listen')
      return listen(exchange, { caller, endpoint, id, params, capabilities });
    // In one piece: this is made for every call.
    const mcpRequest: McpRequest = {
      caller,
      endpoint,
      era: 'modern',
      version: MODERN_VERSION,
      id,
      method,
      params,
      capabilities,
      logLevel,
      session: undefined,
      signal,
      reply: createReply(exchange, parts, NOT_RESUMABLE),
      headers: req.headers,
    };
    await serve(mcpRequest, modern.get(method));
  }

  async function dispatch(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void> {
    const { body, req, res, caller } = exchange;
    // One that is not there, or not for this caller, is no endpoint at all.
    if (endpoint.kind === 'one') endpointServers(servers, caller, endpoint);
    if (Array.isArray(body)) return legacy.batch(exchange, endpoint, body as readonly unknown[]);
    const message = readRpcMessage(body);
    if (!message) throw invalidRequest('The body is not one JSON-RPC message');
    if (message.kind === 'response') return legacy.response(exchange, endpoint, message);
    const era = readEra(req.headers, message);
    if (era === 'legacy') return legacy.message(exchange, endpoint, message);
    if (message.kind === 'request') return serveModern(exchange, endpoint, message, era);
    sendAccepted(res, parts.headers);
  }

  return {
    async post(exchange, endpoint) {
      try {
        await dispatch(exchange, endpoint);
      } catch (error) {
        if (!(error instanceof RpcFault) || exchange.res.headersSent) throw error;
        exchange.json(error.status, rpcErrorText(readRpcId(exchange.body), error));
      }
    },
  };
}

/** In this era whoever leaves has cancelled. */
const NOT_RESUMABLE = { sessionKey: undefined, sendsPrimingEvent: false };

function notAcceptable(): RpcFault {
  return new RpcFault(rpcCode.invalidRequest, 'Accept must name application/json and text/event-stream', {
    status: 406,
  });
}

function acceptsJsonAndEvents(headers: IncomingHttpHeaders): boolean {
  const accept = singleHeader(headers, 'accept');
  if (accept === 'application/json, text/event-stream') return true;
  return (
    acceptsEventStream(accept) &&
    /(^|,)\s*(application\/json|application\/\*|\*\/\*)\s*(;|,|$)/i.test(accept ?? '')
  );
}
