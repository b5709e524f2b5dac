import type { SendResponse } from '@behalf/kernel';
import type { UpstreamParts } from '../parts.ts';
import type { RemoteTarget } from '../target.ts';
import { sendWithCredential, type PresentedCredential } from '../bearerHeaders.ts';
import type { ServerRequests } from '../serverRequests.ts';
import type { ServerNotification } from '../upstream.ts';
import { createServerLog } from '../channel/serverLog.ts';
import { isObject } from './readResponse.ts';
import { toChangeNotification, type ServerRequestResponder } from './serverMessages.ts';
import type { LegacySession } from './session.ts';
import { maintainStream } from './stream.ts';

export interface LegacyStreamOptions {
  readonly session: LegacySession;
  /** What is presented at the server, as it stands now. */
  readonly getCredential: () => PresentedCredential;
  readonly onNotification: (notification: ServerNotification) => void;
  readonly responder: ServerRequestResponder;
  /** Who may be asked what the server asks here, at this moment. */
  readonly findServerRequests: () => ServerRequests | undefined;
  /** It is open, or not any more. */
  readonly onOpenChange: (isOpen: boolean) => void;
  /** For the log. */
  readonly server: string;
  /** The server has answered, whatever it answered; or it could not be asked. */
  readonly onOpenAttempted: () => void;
  /**
   * The server believes that another stream of ours holds the session: makes a new one in its place. False: not now, it is
   * tried again later.
   */
  readonly onConflict: () => boolean;
}

/** The GET stream of a session. What comes here belongs to nobody's request, so that no user ever sees it. */
export function maintainLegacyStream(
  target: RemoteTarget,
  parts: UpstreamParts,
  {
    session,
    getCredential,
    onNotification,
    responder,
    findServerRequests,
    onOpenChange,
    server,
    onOpenAttempted,
    onConflict,
  }: LegacyStreamOptions,
): () => void {
  const send = parts.network.sendTo(target);
  const serverLog = createServerLog({ clock: parts.clock, log: parts.log, server, owner: undefined });
  const getBaseHeaders = () => ({ ...target.headers, ...getCredential().headers, ...session.sessionHeaders });

  async function open(signal: AbortSignal, lastEventId: string): Promise<SendResponse | null> {
    if (!session.offersStream) return null;
    const resumeHeaders = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const streamHeaders = { ...getBaseHeaders(), accept: 'text/event-stream', ...resumeHeaders };
    const request = { method: 'GET', url: target.url, headers: streamHeaders, signal } as const;
    const reply = await sendWithCredential(send, request, getCredential().bearer);
    const { status } = reply;
    if (status === 200 && reply.isEventStream) return reply;
    void reply.discard();
    if (status === 429 || status >= 500 || (status === 409 && !onConflict()))
      throw new Error('Stream temporarily unavailable');
    session.offersStream = false;
    if (status !== 404 && status !== 405 && status !== 406 && status !== 409) {
      parts.log('upstream_stream_refused', { server, status });
    }
    return null;
  }

  const stop = maintainStream(parts, {
    idleTimeoutMs: target.sseReadTimeoutMs,
    open: (signal, lastEventId) => open(signal, lastEventId).finally(onOpenAttempted),
    onOpenChange,
    onMessage(message) {
      if (message.method === undefined) return true;
      if (message.id !== undefined) {
        responder.respond(message, {
          headers: { ...getBaseHeaders(), ...POST_HEADERS },
          serverRequests: findServerRequests(),
        });
      } else if (message.method === 'notifications/message') {
        serverLog.receive(isObject(message.params) ? message.params : {}, []);
      } else {
        const notification = toChangeNotification(message);
        if (notification) onNotification(notification);
      }
      return true;
    },
  });
  return () => {
    stop();
    serverLog.close();
  };
}

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
