import type { UpstreamParts } from '../parts.ts';
import type { Bearer, RemoteTarget } from '../target.ts';
import { acknowledged, announced, asFilter } from '../announced.ts';
import { sendPresenting } from '../bearerHeaders.ts';
import type { HeaderValues, Json, ServerClaims, Upstream } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isSessionCode } from './classifyStatus.ts';
import { converse, type ConverseParts } from './converse.ts';
import { createEnding, interrupt } from './ending.ts';
import { createModernHeaderMemo } from './modernHeaderMemo.ts';
import { waitFor } from './patience.ts';
import { asNotice, heardBy } from './serverMessages.ts';
import { keepStream } from './stream.ts';
import { declaring, membersText, modernEnvelope, writeRequest } from './writeRequest.ts';

/** Where a server is, and nothing of whoever found out: neither headers nor a bearer. */
export type ModernTarget = Omit<RemoteTarget, 'headers' | 'bearer'> & {
  readonly headers: Readonly<Record<string, never>>;
  readonly bearer: undefined;
};

/**
 * A modern server keeps nothing of us and we keep nothing of any user: each request brings its credential, and a
 * million idle users cost nothing.
 */
export function createModernUpstream(
  target: ModernTarget,
  claims: ServerClaims,
  parts: UpstreamParts,
  /** The server does not answer as a modern one any more. */
  onDoubt: () => void,
): Upstream {
  const { clock, network } = parts;
  const ending = createEnding();
  const streams = new Set<() => void>();
  const plain = modernEnvelope(parts.version);
  const plainText = membersText(plain);
  const headersFor = createModernHeaderMemo(target.headers);
  /** Each request speaks for itself: who brings a token by an extension says so. */
  const envelopeFor = (bearer: Bearer | undefined) =>
    bearer?.extension === undefined ? plain : modernEnvelope(parts.version, bearer.extension);
  const send = network.sendTo(target);
  let lastId = 0;
  const wire: ConverseParts = {
    send,
    clock,
    readError: network.readError,
    answerer: { answer: () => undefined },
    // It belongs to whose call it came with, and all users may have this conversation.
    onNotice: nothing,
  };

  function outgoing(
    method: string,
    params: Json,
    given: { headers?: HeaderValues; extraHeaders?: HeaderValues },
  ) {
    lastId += 1;
    return { id: lastId, headers: headersFor(method, params, given) };
  }

  /** Once it answers like a legacy server, this conversation leads nowhere: the next one asks anew what it speaks. */
  function doubt(error: unknown): void {
    if (!(error instanceof UpstreamError)) return;
    if (!isForeign(error)) return;
    onDoubt();
    ending.end();
    stopStreams();
  }

  function stopStreams(): void {
    for (const stop of streams) stop();
    streams.clear();
  }

  return {
    claims,
    async request(method, params, options) {
      if (ending.over) throw new UpstreamError('ended');
      const { id, headers } = outgoing(method, params, options);
      const { bearer, meta, onLog, onProgress, dialogue, logLevel } = options;
      const wantsLog = onLog !== undefined && (logLevel ?? true);
      const said =
        dialogue?.era === 'modern'
          ? declaring(plain, dialogue.capabilities, bearer?.extension)
          : envelopeFor(bearer);
      const out = {
        url: target.url,
        era: 'modern' as const,
        id,
        headers,
        bearer,
        body: writeRequest({
          id,
          method,
          params,
          meta,
          envelope: said,
          wantsLog,
          said: said === plain ? plainText : undefined,
        }),
        session: false,
        onProgress,
        onLog,
        questions: undefined,
      };
      try {
        // Closing the exchange is the cancellation of this era.
        return await waitFor({ clock, inFlight: ending.inFlight }, options, nothing, (waiting) =>
          converse(wire, out, waiting),
        );
      } catch (error) {
        doubt(error);
        throw error;
      }
    },
    /** Each listener has a stream of its own: what it may hear depends on its credential. */
    listen(listener, { headers: credential, bearer, resources = [], onFollowed = nothing }) {
      const lists = announced(claims.capabilities);
      const notifications = {
        ...asFilter(lists),
        ...(resources.length > 0 && { resourceSubscriptions: resources }),
      };
      const heard = heardBy(listener, resources);
      let stop = nothing;
      if (Object.keys(notifications).length > 0 && !ending.over) {
        stop = keepStream(parts, {
          idleMs: target.sseReadTimeoutMs,
          async open(signal) {
            const method = 'subscriptions/listen';
            const params = { notifications };
            const { id, headers } = outgoing(method, params, credential ? { headers: credential } : {});
            const envelope = envelopeFor(bearer);
            const body = writeRequest({ id, method, params, meta: undefined, envelope, wantsLog: false });
            const request = { method: 'POST', url: target.url, headers, body, signal } as const;
            const reply = await sendPresenting(send, request, bearer);
            if (reply.status === 200 && reply.isEventStream) return reply;
            void reply.discard();
            if (reply.status === 429 || reply.status >= 500) throw new Error('Later');
            return null;
          },
          onOpen: (isOpen) => {
            // An open one is followed by what it says first.
            if (!isOpen) onFollowed([]);
          },
          onMessage(message) {
            const followed = acknowledged(message, lists);
            if (followed) onFollowed(followed);
            const notice = asNotice(message);
            if (notice) heard(notice);
            // An error ends the subscription for good; a result only says goodbye for now.
            return message.error === undefined;
          },
        });
        streams.add(stop);
      }
      return () => {
        streams.delete(stop);
        stop();
      };
    },
    onClose: (listener) => ending.onClose(listener),
    async close() {
      if (!ending.end()) return;
      stopStreams();
      interrupt(ending);
    },
  };
}

/** How a legacy server answers a request that it does not understand. */
function isForeign({ reason, detail: { status, rpc } }: UpstreamError): boolean {
  if (reason === 'header_mismatch') return rpc?.code === -32022;
  const unread = reason === 'wrong_url' || reason === 'bad_request' || isSessionCode(rpc);
  return unread && (status === 400 || status === 404 || status === 405);
}

function nothing(): void {
  // No one needs to be told.
}
