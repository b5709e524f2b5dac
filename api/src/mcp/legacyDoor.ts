import { LightCancellation } from '@behalf/kernel';
import type { RateLimits } from '../door/rateLimits.ts';
import type { HotExchange } from '../http.ts';
import type { Asked, Method } from './asked.ts';
import type { DoorEndpoint } from './doorEndpoint.ts';
import { readEra } from './era.ts';
import type { Initialize } from './initialize.ts';
import {
  readMessage,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from './message.ts';
import { invalidRequest } from './rpcFault.ts';
import type { ServeRequest } from './serveRequest.ts';
import type { Asking } from './session/asking.ts';
import { cancelName } from './session/cancelName.ts';
import type { Mailbox } from './session/mailbox.ts';
import type { SessionAtDoor } from './session/requireSession.ts';
import { collectReply } from './stream/collectReply.ts';
import { accepted, createReply, type Reply, type ReplyParts } from './stream/reply.ts';
import { BATCH_VERSION, URL_ELICITATION_VERSION } from './versions.ts';

export interface LegacyDoorParts extends ReplyParts {
  readonly methods: ReadonlyMap<string, Method>;
  readonly serve: ServeRequest;
  readonly initialize: Initialize;
  readonly requireSession: (exchange: HotExchange, endpoint: DoorEndpoint) => Promise<SessionAtDoor>;
  readonly asking: Pick<Asking, 'answered'>;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly limits: Pick<RateLimits, 'take'>;
}

/** What clients of the revisions with sessions post. */
export interface LegacyDoor {
  message(
    exchange: HotExchange,
    endpoint: DoorEndpoint,
    message: RpcRequest | RpcNotification,
  ): Promise<void>;
  response(exchange: HotExchange, endpoint: DoorEndpoint, response: RpcResponse): Promise<void>;
  /** Several in one body, which one revision has. */
  batch(exchange: HotExchange, endpoint: DoorEndpoint, body: readonly unknown[]): Promise<void>;
}

const MOST_IN_A_BATCH = 50;

export function createLegacyDoor(parts: LegacyDoorParts): LegacyDoor {
  const { methods, serve, initialize, requireSession, asking, mailbox, limits, headers } = parts;

  /** Goes on when its client leaves, and stops when its client says so, at whichever replica. */
  async function request(
    exchange: HotExchange,
    endpoint: DoorEndpoint,
    { session, logLevel }: SessionAtDoor,
    { id, method, params }: RpcRequest,
    reply: Reply,
    signal: LightCancellation,
  ): Promise<void> {
    const { req, caller } = exchange;
    const { version, capabilities, place } = session;
    // In one piece: this is made for every call.
    const asked: Asked = {
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
    const stop = mailbox.wait(place, cancelName(id), () =>
      signal.abort(new DOMException('The client cancelled the request', 'AbortError')),
    );
    try {
      await serve(asked, methods.get(method));
    } finally {
      stop();
    }
  }

  async function notified({ session }: SessionAtDoor, { method, params }: RpcNotification): Promise<void> {
    const { requestId } = params;
    if (method !== 'notifications/cancelled') return;
    if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
    await mailbox.post(session.place, cancelName(requestId), 'cancelled');
  }

  return {
    async message(exchange, endpoint, message) {
      if (message.method === 'initialize' && message.kind === 'request')
        return initialize(exchange, endpoint, message);
      const at = await requireSession(exchange, endpoint);
      if (message.kind === 'notification') {
        await notified(at, message);
        accepted(exchange.res, headers);
        return;
      }
      const signal = new LightCancellation();
      const reply = createReply(exchange, parts, {
        place: at.session.place,
        request: message.id,
        primes: at.session.version >= URL_ELICITATION_VERSION,
        cancel: () => signal.abort(new DOMException('The caller may not go on', 'AbortError')),
      });
      await request(exchange, endpoint, at, message, reply, signal);
    },
    async response(exchange, endpoint, response) {
      const { session } = await requireSession(exchange, endpoint);
      await asking.answered(session, response);
      accepted(exchange.res, headers);
    },
    async batch(exchange, endpoint, body) {
      const messages = readBatch(body);
      const at = await requireSession(exchange, endpoint);
      if (at.session.version !== BATCH_VERSION) throw invalidRequest('This revision has no batches');
      // All of them before the first is begun.
      if (messages.some(isOutOfPlace)) throw invalidRequest('One of them cannot be part of a batch');
      // The request itself was counted where it came in, and each message is worth one.
      for (const _further of messages.slice(1)) limits.take(exchange.caller, 'calls');
      for (const message of messages) {
        if (message.kind === 'response') await asking.answered(at.session, message);
        else if (message.kind === 'notification') await notified(at, message);
      }
      const answers = messages.flatMap((message) =>
        message.kind === 'request'
          ? [
              collectReply((reply) =>
                request(exchange, endpoint, at, message, reply, new LightCancellation()),
              ),
            ]
          : [],
      );
      if (answers.length === 0) {
        accepted(exchange.res, headers);
        return;
      }
      const texts = (await Promise.all(answers)).filter((text) => text !== undefined);
      if (!exchange.res.destroyed) exchange.json(200, `[${texts.join(',')}]`);
    },
  };
}

/** What opens a session stands alone, and the modern era has no batches. */
function isOutOfPlace(message: RpcMessage): boolean {
  if (message.kind === 'response') return false;
  return message.method === 'initialize' || readEra({}, message) !== 'legacy';
}

function readBatch(body: readonly unknown[]): readonly RpcMessage[] {
  const messages = body.flatMap((one) => readMessage(one) ?? []);
  if (messages.length > 0 && messages.length <= MOST_IN_A_BATCH && messages.length === body.length)
    return messages;
  throw invalidRequest('A batch has between one and fifty messages');
}
