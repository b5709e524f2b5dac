import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type EndpointParts, endpointServers } from '@behalf/gateway';
import { LightCancellation } from '@behalf/kernel';
import type { RateLimits } from '../../http/limits.ts';
import type { FastExchange } from '../../http/route.ts';
import type { ClientEndpoint } from './endpoint.ts';
import {
  BATCH_VERSION,
  MODERN_VERSION,
  type ModernEnvelope,
  URL_ELICITATION_VERSION,
  readEra,
  singleHeader,
} from './era.ts';
import type { Initialize } from './methods/discover.ts';
import type { Listen } from './methods/listen.ts';
import type { Mailbox } from './relay/mailbox.ts';
import type { McpRequest, Method, ServeRequest } from './request.ts';
import {
  RpcFault,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  invalidRequest,
  readRpcId,
  readRpcMessage,
  rpcCode,
  rpcErrorText,
} from './rpc.ts';
import type { ClientRequests } from './session/clientRequests.ts';
import type { ActiveSession, RequireSession } from './session/sessions.ts';
import {
  type Reply,
  type ReplyParts,
  acceptsEventStream,
  createReply,
  sendAccepted,
} from './stream/reply.ts';

interface McpPostHandlerParts extends ReplyParts {
  readonly servers: EndpointParts;
  readonly modernMethods: ReadonlyMap<string, Method>;
  readonly legacyMethods: ReadonlyMap<string, Method>;
  readonly serve: ServeRequest;
  readonly listen: Listen;
  readonly initialize: Initialize;
  readonly requireSession: RequireSession;
  readonly clientRequests: Pick<ClientRequests, 'handleResponse'>;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly limits: Pick<RateLimits, 'consume'>;
}

/** In the modern era, a disconnect cancels the request. */
const NOT_RESUMABLE = { sessionKey: undefined, sendsPrimingEvent: false };

/** POST requests of both eras. The body of a message determines its era. */
export function createMcpPostHandler(parts: McpPostHandlerParts) {
  const { servers, modernMethods, legacyMethods, serve, listen, initialize, requireSession } = parts;
  const { clientRequests, mailbox, limits, headers } = parts;

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
    await serve(mcpRequest, modernMethods.get(method));
  }

  /** Runs a legacy request. It continues if the client disconnects. Its cancellation may arrive at any replica. */
  async function runLegacyRequest(
    { req, caller }: FastExchange,
    endpoint: ClientEndpoint,
    { session, logLevel }: ActiveSession,
    { id, method, params }: RpcRequest,
    createReplyFor: (signal: LightCancellation) => Reply,
  ): Promise<void> {
    const { version, capabilities, sessionKey } = session;
    const signal = new LightCancellation();
    const mcpRequest: McpRequest = {
      caller,
      endpoint,
      era: 'legacy',
      version,
      id,
      method,
      params,
      capabilities,
      logLevel,
      session,
      signal,
      reply: createReplyFor(signal),
      headers: req.headers,
    };
    const stopWaiting = mailbox.wait(sessionKey, cancellationName(id), () =>
      signal.abort(new DOMException('The client canceled the request', 'AbortError')),
    );
    try {
      await serve(mcpRequest, legacyMethods.get(method));
    } finally {
      stopWaiting();
    }
  }

  async function handleLegacyNotification(
    { session }: ActiveSession,
    { method, params }: RpcNotification,
  ): Promise<void> {
    const { requestId } = params;
    if (method !== 'notifications/cancelled') return;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    await mailbox.post(session.sessionKey, cancellationName(requestId), 'cancelled');
  }

  async function handleLegacy(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    message: RpcMessage,
  ): Promise<void> {
    if (message.kind === 'request' && message.method === 'initialize')
      return initialize(exchange, endpoint, message);
    const active = await requireSession(exchange, endpoint);
    const { session } = active;
    if (message.kind === 'request') {
      await runLegacyRequest(exchange, endpoint, active, message, (signal) =>
        createReply(exchange, parts, {
          sessionKey: session.sessionKey,
          requestId: message.id,
          sendsPrimingEvent: session.version >= URL_ELICITATION_VERSION,
          cancel: () => signal.abort(new DOMException('The caller is no longer authorized', 'AbortError')),
        }),
      );
      return;
    }
    if (message.kind === 'notification') await handleLegacyNotification(active, message);
    else await clientRequests.handleResponse(session, message);
    sendAccepted(exchange.res, headers);
  }

  /** A JSON-RPC batch. Only the revision 2025-03-26 allows it. */
  async function handleBatch(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    body: readonly unknown[],
  ): Promise<void> {
    const messages = readBatch(body);
    const active = await requireSession(exchange, endpoint);
    if (active.session.version !== BATCH_VERSION)
      throw invalidRequest('This protocol revision does not support batches');
    // Check all messages before the first one runs.
    if (messages.some(isNotBatchable))
      throw invalidRequest('A message in the batch is not allowed in a batch');
    // The rate limit has counted the HTTP request once. Each message counts.
    for (const _further of messages.slice(1)) limits.consume(exchange.caller, 'calls');
    for (const message of messages) {
      if (message.kind === 'response') await clientRequests.handleResponse(active.session, message);
      else if (message.kind === 'notification') await handleLegacyNotification(active, message);
    }
    const requests = messages.filter((message) => message.kind === 'request');
    if (requests.length === 0) {
      sendAccepted(exchange.res, headers);
      return;
    }
    const responses = await Promise.all(
      requests.map((request) =>
        collectReply((reply) => runLegacyRequest(exchange, endpoint, active, request, () => reply)),
      ),
    );
    const texts = responses.filter((text) => text !== undefined);
    if (!exchange.res.destroyed) exchange.json(200, `[${texts.join(',')}]`);
  }

  async function dispatch(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void> {
    const { body, req, res, caller } = exchange;
    // Throws the same error for an unknown server and for one that the caller may not use.
    if (endpoint.kind === 'one') endpointServers(servers, caller, endpoint);
    if (Array.isArray(body)) return handleBatch(exchange, endpoint, body as readonly unknown[]);
    const message = readRpcMessage(body);
    if (!message) throw invalidRequest('The body is not one JSON-RPC message');
    const era = message.kind === 'response' ? 'legacy' : readEra(req.headers, message);
    if (era === 'legacy') return handleLegacy(exchange, endpoint, message);
    if (message.kind === 'request') return serveModern(exchange, endpoint, message, era);
    sendAccepted(res, headers);
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

const MAX_BATCH_MESSAGES = 50;

function readBatch(body: readonly unknown[]): readonly RpcMessage[] {
  const messages = body.flatMap((value) => readRpcMessage(value) ?? []);
  if (messages.length > 0 && messages.length <= MAX_BATCH_MESSAGES && messages.length === body.length)
    return messages;
  throw invalidRequest('A batch must have between 1 and 50 messages');
}

/** `initialize` must not be in a batch, and the modern era has no batches. */
function isNotBatchable(message: RpcMessage): boolean {
  if (message.kind === 'response') return false;
  return message.method === 'initialize' || readEra({}, message) !== 'legacy';
}

/** Returns the response to one request of a batch. Notifications and requests of the server are dropped. */
async function collectReply(work: (reply: Reply) => Promise<void>): Promise<string | undefined> {
  let responseText: string | undefined;
  await work({
    isStarted: false,
    canSendRequests: false,
    notify: () => undefined,
    sendRequest: () => false,
    finish: (text) => {
      responseText = text;
    },
    abandon: () => undefined,
    close: () => undefined,
  });
  return responseText;
}

/** Known clients send counters or UUIDs. */
const MAX_RAW_ID_LENGTH = 256;

/** The mailbox message that cancels a request. It becomes a key of the store, so a long id is hashed. */
export function cancellationName(id: string | number): string {
  if (typeof id === 'number') return `cancel:${id}`;
  if (id.length <= MAX_RAW_ID_LENGTH) return `cancel:"${id}`;
  return `cancel:#${createHash('sha256').update(id).digest('base64url')}`;
}
