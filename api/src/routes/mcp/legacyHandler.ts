import { createHash } from 'node:crypto';
import { LightCancellation } from '@behalf/kernel';
import type { RateLimits } from '../../http/limits.ts';
import type { FastExchange } from '../../http/route.ts';
import type { ClientEndpoint } from './endpoint.ts';
import { BATCH_VERSION, URL_ELICITATION_VERSION, isLogLevel, readEra } from './era.ts';
import type { Initialize } from './methods/discover.ts';
import type { Mailbox } from './relay/mailbox.ts';
import type { McpRequest, Method, ServeRequest } from './request.ts';
import {
  RpcFault,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  invalidRequest,
  readRpcMessage,
  rpcCode,
} from './rpc.ts';
import type { ClientRequests } from './session/clientRequests.ts';
import type { ActiveSession, RequireSession, SessionStates } from './session/sessions.ts';
import { type Reply, type ReplyParts, createReply, sendAccepted } from './stream/reply.ts';

interface LegacyHandlerParts extends ReplyParts {
  readonly methods: ReadonlyMap<string, Method>;
  readonly serve: ServeRequest;
  readonly initialize: Initialize;
  readonly requireSession: RequireSession;
  readonly clientRequests: Pick<ClientRequests, 'handleResponse'>;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly limits: Pick<RateLimits, 'consume'>;
}

const MAX_BATCH_MESSAGES = 50;

export type LegacyHandler = ReturnType<typeof createLegacyHandler>;

/** POST requests of the revisions with sessions. */
export function createLegacyHandler(parts: LegacyHandlerParts) {
  const { methods, serve, initialize, requireSession, clientRequests, mailbox, limits, headers } = parts;

  /** The request continues if the client disconnects. A cancellation may arrive at any replica. */
  async function runRequest(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    { session, logLevel }: ActiveSession,
    { id, method, params }: RpcRequest,
    reply: Reply,
    signal: LightCancellation,
  ): Promise<void> {
    const { req, caller } = exchange;
    const { version, capabilities, sessionKey } = session;
    // One object literal: this is on the hot path.
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
      reply,
      headers: req.headers,
    };
    const stopWaiting = mailbox.wait(sessionKey, cancellationName(id), () =>
      signal.abort(new DOMException('The client canceled the request', 'AbortError')),
    );
    try {
      await serve(mcpRequest, methods.get(method));
    } finally {
      stopWaiting();
    }
  }

  async function handleNotification(
    { session }: ActiveSession,
    { method, params }: RpcNotification,
  ): Promise<void> {
    const { requestId } = params;
    if (method !== 'notifications/cancelled') return;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    await mailbox.post(session.sessionKey, cancellationName(requestId), 'cancelled');
  }

  return {
    async message(
      exchange: FastExchange,
      endpoint: ClientEndpoint,
      message: RpcRequest | RpcNotification,
    ): Promise<void> {
      if (message.method === 'initialize' && message.kind === 'request')
        return initialize(exchange, endpoint, message);
      const active = await requireSession(exchange, endpoint);
      if (message.kind === 'notification') {
        await handleNotification(active, message);
        sendAccepted(exchange.res, headers);
        return;
      }
      const signal = new LightCancellation();
      const reply = createReply(exchange, parts, {
        sessionKey: active.session.sessionKey,
        requestId: message.id,
        sendsPrimingEvent: active.session.version >= URL_ELICITATION_VERSION,
        cancel: () => signal.abort(new DOMException('The caller is no longer authorized', 'AbortError')),
      });
      await runRequest(exchange, endpoint, active, message, reply, signal);
    },
    async response(exchange: FastExchange, endpoint: ClientEndpoint, response: RpcResponse): Promise<void> {
      const { session } = await requireSession(exchange, endpoint);
      await clientRequests.handleResponse(session, response);
      sendAccepted(exchange.res, headers);
    },
    /** A JSON-RPC batch. Only the revision 2025-03-26 allows it. */
    async batch(exchange: FastExchange, endpoint: ClientEndpoint, body: readonly unknown[]): Promise<void> {
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
        else if (message.kind === 'notification') await handleNotification(active, message);
      }
      const run = (request: RpcRequest) =>
        collectReply((reply) =>
          runRequest(exchange, endpoint, active, request, reply, new LightCancellation()),
        );
      const responses = messages.flatMap((message) => (message.kind === 'request' ? [run(message)] : []));
      if (responses.length === 0) {
        sendAccepted(exchange.res, headers);
        return;
      }
      const texts = (await Promise.all(responses)).filter((text) => text !== undefined);
      if (!exchange.res.destroyed) exchange.json(200, `[${texts.join(',')}]`);
    },
  };
}

/** `initialize` must not be in a batch, and the modern era has no batches. */
function isNotBatchable(message: RpcMessage): boolean {
  if (message.kind === 'response') return false;
  return message.method === 'initialize' || readEra({}, message) !== 'legacy';
}

function readBatch(body: readonly unknown[]): readonly RpcMessage[] {
  const messages = body.flatMap((value) => readRpcMessage(value) ?? []);
  if (messages.length > 0 && messages.length <= MAX_BATCH_MESSAGES && messages.length === body.length)
    return messages;
  throw invalidRequest('A batch must have between 1 and 50 messages');
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

/** Methods that require a session. */
export function sessionMethods(states: Pick<SessionStates, 'setLevel'>): Readonly<Record<string, Method>> {
  return {
    ping: () => '{}',
    async 'logging/setLevel'({ params: { level }, session }) {
      if (!isLogLevel(level) || !session)
        throw new RpcFault(rpcCode.invalidParams, 'params.level must be a level of RFC 5424');
      await states.setLevel(session, level);
      return '{}';
    },
  };
}
