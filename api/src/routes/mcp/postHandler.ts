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
  /** The methods of the modern era by name. */
  readonly modern: ReadonlyMap<string, Method>;
  readonly legacy: LegacyHandler;
  readonly serve: ServeRequest;
  readonly listen: Listen;
}

/** POST requests of both eras. The body of a message determines its era. */
export function createMcpPostHandler(parts: McpPostHandlerParts) {
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
    // Not a method with a result: the response is a stream of notifications.
    if (method === 'subscriptions/listen')
      return listen(exchange, { caller, endpoint, id, params, capabilities });
    // One object literal: this is on the hot path.
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
    // Throws the same error for an unknown server and for one that the caller may not use.
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

  return async (exchange: FastExchange, endpoint: ClientEndpoint): Promise<void> => {
    try {
      await dispatch(exchange, endpoint);
    } catch (error) {
      if (!(error instanceof RpcFault) || exchange.res.headersSent) throw error;
      exchange.json(error.status, rpcErrorText(readRpcId(exchange.body), error));
    }
  };
}

/** In the modern era, a disconnect cancels the request. */
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
