import type { IncomingHttpHeaders } from 'node:http';
import { endpointServers, type EndpointParts } from '@behalf/gateway';
import type { HotExchange } from '../http.ts';
import type { Asked, Method } from './asked.ts';
import type { DoorEndpoint } from './doorEndpoint.ts';
import { header, readEra, type ModernClaim } from './era.ts';
import type { Listen } from './methods/listen.ts';
import type { LegacyDoor } from './legacyDoor.ts';
import { idOf, readMessage, type RpcRequest } from './message.ts';
import { faultText, invalidRequest, RpcFault, rpcCode } from './rpcFault.ts';
import type { ServeRequest } from './serveRequest.ts';
import { accepted, createReply, wantsEvents, type ReplyParts } from './stream/reply.ts';
import { MODERN_VERSION } from './versions.ts';

export interface McpDoorParts extends ReplyParts {
  readonly servers: EndpointParts;
  /** By name, for clients of the modern era. */
  readonly modern: ReadonlyMap<string, Method>;
  readonly legacy: LegacyDoor;
  readonly serve: ServeRequest;
  readonly listen: Listen;
}

/** One endpoint, both eras: what a body says decides which. */
export interface McpDoor {
  post(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
}

export function createMcpDoor(parts: McpDoorParts): McpDoor {
  const { servers, modern, legacy, serve, listen } = parts;

  async function serveModern(
    exchange: HotExchange,
    endpoint: DoorEndpoint,
    request: RpcRequest,
    { capabilities, logLevel }: ModernClaim,
  ): Promise<void> {
    const { req, caller, signal } = exchange;
    if (!acceptsBoth(req.headers)) throw notAcceptable();
    const { id, method, params } = request;
    // A stream without an answer, for as long as both want it.
    if (method === 'subscriptions/listen')
      return listen(exchange, { caller, endpoint, id, params, capabilities });
    // In one piece: this is made for every call.
    const asked: Asked = {
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
    await serve(asked, modern.get(method));
  }

  async function receive(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void> {
    const { body, req, res, caller } = exchange;
    // One that is not there, or not for this caller, is no endpoint at all.
    if (endpoint.kind === 'one') endpointServers(servers, caller, endpoint);
    if (Array.isArray(body)) return legacy.batch(exchange, endpoint, body as readonly unknown[]);
    const message = readMessage(body);
    if (!message) throw invalidRequest('The body is not one JSON-RPC message');
    if (message.kind === 'response') return legacy.response(exchange, endpoint, message);
    const era = readEra(req.headers, message);
    if (era === 'legacy') return legacy.message(exchange, endpoint, message);
    if (message.kind === 'request') return serveModern(exchange, endpoint, message, era);
    accepted(res, parts.headers);
  }

  return {
    async post(exchange, endpoint) {
      try {
        await receive(exchange, endpoint);
      } catch (error) {
        if (!(error instanceof RpcFault) || exchange.res.headersSent) throw error;
        exchange.json(error.status, faultText(idOf(exchange.body), error));
      }
    },
  };
}

/** In this era whoever leaves has cancelled. */
const NOT_RESUMABLE = { place: undefined, primes: false };

function notAcceptable(): RpcFault {
  return new RpcFault(rpcCode.invalidRequest, 'Accept must name application/json and text/event-stream', {
    status: 406,
  });
}

function acceptsBoth(headers: IncomingHttpHeaders): boolean {
  const accept = header(headers, 'accept');
  if (accept === 'application/json, text/event-stream') return true;
  return (
    wantsEvents(accept) && /(^|,)\s*(application\/json|application\/\*|\*\/\*)\s*(;|,|$)/i.test(accept ?? '')
  );
}
