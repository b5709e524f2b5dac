import type { SendReply } from '@behalf/kernel';
import type { UpstreamParts } from '../parts.ts';
import type { RemoteTarget } from '../target.ts';
import { sendPresenting, type Presented } from '../bearerHeaders.ts';
import type { Questions } from '../askPeer.ts';
import type { Notice } from '../upstream.ts';
import { createServerLog } from '../channel/serverLog.ts';
import { isObject } from './readAnswer.ts';
import { asNotice, type Answerer } from './serverMessages.ts';
import type { Session } from './session.ts';
import { keepStream } from './stream.ts';

export interface LegacyStream {
  readonly session: Session;
  /** What is presented at the server, as it stands now. */
  readonly credential: () => Presented;
  readonly onNotice: (notice: Notice) => void;
  readonly answerer: Answerer;
  /** Who may be asked what the server asks here, at this moment. */
  readonly questions: () => Questions | undefined;
  /** It is open, or not any more. */
  readonly onOpen: (isOpen: boolean) => void;
  /** For the log. */
  readonly server: string;
  /** The server has answered, whatever it answered; or it could not be asked. */
  readonly onTried: () => void;
  /**
   * The server believes that another stream of ours holds the session: makes a new one in its place. False: not now, it is
   * tried again later.
   */
  readonly onConflict: () => boolean;
}

/** The GET stream of a session. What comes here belongs to nobody's request, so that no user ever sees it. */
export function keepLegacyStream(
  target: RemoteTarget,
  parts: UpstreamParts,
  { session, credential, onNotice, answerer, questions, onOpen, server, onTried, onConflict }: LegacyStream,
): () => void {
  const send = parts.network.sendTo(target);
  const serverLog = createServerLog({ clock: parts.clock, log: parts.log, server, owner: undefined });
  const headers = () => ({ ...target.headers, ...credential().headers, ...session.own });

  async function open(signal: AbortSignal, lastEventId: string): Promise<SendReply | null> {
    if (!session.offersStream) return null;
    const resume = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
    const bare = { ...headers(), accept: 'text/event-stream', ...resume };
    const request = { method: 'GET', url: target.url, headers: bare, signal } as const;
    const reply = await sendPresenting(send, request, credential().bearer);
    const { status } = reply;
    if (status === 200 && reply.isEventStream) return reply;
    void reply.discard();
    if (status === 429 || status >= 500 || (status === 409 && !onConflict())) throw new Error('Later');
    session.offersStream = false;
    if (status !== 404 && status !== 405 && status !== 406 && status !== 409) {
      parts.log('upstream.stream_refused', { server, status });
    }
    return null;
  }

  const stop = keepStream(parts, {
    idleMs: target.sseReadTimeoutMs,
    open: (signal, lastEventId) => open(signal, lastEventId).finally(onTried),
    onOpen,
    onMessage(message) {
      if (message.method === undefined) return true;
      if (message.id !== undefined) {
        answerer.answer(message, { headers: { ...headers(), ...POST }, questions: questions() });
      } else if (message.method === 'notifications/message') {
        serverLog.receive(isObject(message.params) ? message.params : {}, []);
      } else {
        const notice = asNotice(message);
        if (notice) onNotice(notice);
      }
      return true;
    },
  });
  return () => {
    stop();
    serverLog.end();
  };
}

const POST = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
