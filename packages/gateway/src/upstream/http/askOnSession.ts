import type { Questions } from '../askPeer.ts';
import type { Answer, RequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Waiting } from './patience.ts';
import type { Session, Sessions } from './session.ts';
import { aboutRequest, isLost, isPlain } from './sessionLoss.ts';
import { writeRequest } from './writeRequest.ts';

export interface AskParts {
  readonly sessions: Sessions;
  readonly nextId: () => number;
  /** Sends one request on a session and reads its answer. */
  readonly sendOn: (session: Session, question: Question) => Promise<Answer>;
}

export interface Question {
  readonly id: number;
  readonly body: string;
  readonly given: RequestOptions;
  readonly waiting: Waiting;
  readonly questions?: Questions | undefined;
}

/**
 * Sends, and once more on a new session when the server does not know this one: then nothing ran. Where it does not say
 * so in as many words, the session itself is asked first.
 */
export async function askOnSession(parts: AskParts, question: Question): Promise<Answer> {
  const { sessions, sendOn } = parts;
  const session = sessions.current;
  try {
    return await sendOn(session, question);
  } catch (error) {
    if (!isLost(error)) throw error;
    const said = isPlain(error) ? error : await askSession(parts, session, question);
    if (!said) throw aboutRequest(error);
    const next = await sessions.renew(session, question.given, { retire: !isPlain(said) });
    try {
      return await sendOn(next, question);
    } catch (again) {
      throw isLost(again) && !isPlain(again) ? aboutRequest(again) : again;
    }
  }
}

/** A ping tells whether the session is lost: gives how it was refused, and nothing when it lives. In doubt it lives. */
async function askSession(
  { nextId, sendOn }: AskParts,
  session: Session,
  { given, waiting }: Question,
): Promise<UpstreamError | undefined> {
  const id = nextId();
  const ping = { id, method: 'ping', params: {}, meta: undefined, envelope: undefined, wantsLog: false };
  const { signal, timeoutMs, totalMs, headers, bearer } = given;
  const quiet = { signal, timeoutMs, totalMs, ...(headers && { headers }), ...(bearer && { bearer }) };
  try {
    await sendOn(session, { id, body: writeRequest(ping), given: quiet, waiting });
    return undefined;
  } catch (error) {
    // Without a token nothing was asked, so nothing is known of the session.
    if (!(error instanceof UpstreamError)) throw error;
    return isLost(error) ? error : undefined;
  }
}
