import { Roster } from '@behalf/kernel';
import { createQuestions, type Questions } from '../askPeer.ts';
import type { Dialogue } from '../dialogue.ts';
import type { UpstreamParts } from '../parts.ts';
import type { Bearer, OpenOptions, RemoteTarget } from '../target.ts';
import type { Presented } from '../bearerHeaders.ts';
import { announced } from '../announced.ts';
import type { Answer, HeaderValues, Json, ListKind, Upstream } from '../upstream.ts';
import { UpstreamError, type UpstreamReason } from '../upstreamError.ts';
import { askOnSession, type AskParts, type Question } from './askOnSession.ts';
import { converse, type ConverseParts } from './converse.ts';
import { createEnding, interrupt } from './ending.ts';
import { asOpening, endSession, legacyHandshake, type Handshake } from './handshake.ts';
import { keepLegacyStream } from './legacyStream.ts';
import { waitFor } from './patience.ts';
import { sendQuietly } from './quietly.ts';
import { createAnswerer, createListeners, heardBy } from './serverMessages.ts';
import { isObject } from './readAnswer.ts';
import { createSessionLevel } from './sessionLevel.ts';
import { createSessionStream } from './sessionStream.ts';
import { createSessions, toSession, type Session } from './session.ts';
import { writeRequest } from './writeRequest.ts';

const NOTICE_MS = 10_000;

/** A conversation of the legacy era: a session at the server, found again when the server has lost it. */
export function createLegacyUpstream(
  target: RemoteTarget,
  first: Handshake,
  {
    server,
    owner,
    initTimeoutMs: timeoutMs,
    relay,
  }: Pick<OpenOptions, 'server' | 'owner' | 'initTimeoutMs' | 'relay'>,
  parts: UpstreamParts,
): Upstream {
  const { clock, network } = parts;
  const ending = createEnding();
  const closing = new AbortController();
  const listeners = createListeners();
  const renewals = new Set<() => void>();
  const followers = new Set<(lists: readonly ListKind[]) => void>();
  /** Of which lists changes are heard now. */
  let followed: readonly ListKind[] = [];
  const dialogues = new Set<Questions>();
  const levels = createSessionLevel(clock);
  const sessions = createSessions(toSession(first, target.headers), { open: reopen, retire, onRenewed });
  /** The last one that was presented: what a stream and the end of the session present too. */
  let credential: HeaderValues | undefined;
  /** Likewise, and a source of tokens: no token is kept here. */
  let bearer: Bearer | undefined = target.bearer;
  let replaced = false;
  let lastId = 0;
  const send = network.sendTo(target);
  const post = (body: string, headers: HeaderValues, by = bearer) =>
    sendQuietly({ send, clock }, { method: 'POST', url: target.url, headers, body }, NOTICE_MS, by);
  const wire: ConverseParts = {
    send,
    clock,
    readError: network.readError,
    answerer: createAnswerer(post),
    onNotice: (notice) => listeners.tell(notice),
  };

  const stream = createSessionStream({
    clock,
    current: () => sessions.current,
    open(session, onTried) {
      let isOver = false;
      const stop = keepLegacyStream(target, parts, {
        session,
        credential: () => ({ headers: credential, bearer }),
        onNotice: wire.onNotice,
        answerer: wire.answerer,
        questions: onlyDialogue,
        onOpen: (isOpen) => {
          if (!isOver) follow(isOpen ? announced(session.claims.capabilities) : []);
        },
        server,
        onTried,
        onConflict() {
          // It ends the session: never under a call, nor for one, which does without.
          if (listeners.size === 0 || ending.inFlight.size > 0) return false;
          void replace(session);
          return true;
        },
      });
      return () => {
        // What it says of itself from here on is said of another one.
        isOver = true;
        stop();
        follow([]);
      };
    },
  });
  // Whoever ended it: a server may hold a stream open for ever.
  ending.onClose(() => stream.end());

  function follow(lists: readonly ListKind[]): void {
    followed = lists;
    for (const tell of [...followers]) tell(lists);
  }

  function onRenewed(): void {
    for (const renewed of renewals) renewed();
  }

  async function reopen({ headers: presented, bearer: by = bearer }: Presented): Promise<Session> {
    // Somebody else found the session lost before, and that there is no other to be had.
    if (ending.over) throw new UpstreamError('ended');
    const limits = { signal: closing.signal, timeoutMs, totalMs: timeoutMs };
    const headers = { ...target.headers, ...presented };
    try {
      const handshake = await waitFor({ clock, inFlight: new Roster() }, limits, nothing, (waiting) =>
        legacyHandshake(target, { headers, bearer: by }, parts, { waiting, timeoutMs, relay }),
      );
      const session = toSession(handshake, target.headers);
      stream.follow(session);
      return session;
    } catch (error) {
      // It answers, and not as it once did: the next conversation asks anew what it speaks.
      if (error instanceof UpstreamError && PROTOCOL.has(error.reason)) ending.end();
      throw asOpening(error);
    }
  }

  const asking: AskParts = {
    sessions,
    nextId: () => (lastId += 1),
    sendOn(session, { id, body, given, waiting, questions }) {
      const { onProgress, onLog } = given;
      const headers = session.headersFor(given);
      const known = session.id !== undefined;
      const out = {
        url: target.url,
        era: 'legacy' as const,
        id,
        headers,
        // Never without one where there is one: the request would go out with whatever else is configured.
        bearer: given.bearer ?? bearer,
        body,
        session: known,
        onProgress,
        onLog,
        questions,
      };
      return converse(wire, out, waiting);
    },
  };

  const logs = ({ claims }: Session) => isObject(claims.capabilities['logging']);

  /** The session first says as much as this caller wants to hear. */
  function atLevel<T>(logLevel: string, { given, waiting }: Question, work: () => Promise<T>): Promise<T> {
    const { onLog: _log, onProgress: _progress, dialogue: _dialogue, ...quiet } = given;
    return levels.during(logLevel, sessions.current, work, async (level, session) => {
      const id = asking.nextId();
      const text = { id, method: 'logging/setLevel', params: { level } };
      const body = writeRequest({ ...text, meta: undefined, envelope: undefined, wantsLog: false });
      await asking.sendOn(session, { id, body, given: quiet, waiting });
    });
  }

  /** Questions end with the call, whichever way that ends: with its answer, or because nobody waits for it. */
  async function inDialogue(dialogue: Dialogue | undefined, question: Question): Promise<Answer> {
    if (dialogue?.era !== 'legacy') return askOnSession(asking, question);
    const { waiting } = question;
    const questions = createQuestions({ dialogue, forPerson: (asked) => waiting.forPerson(asked) });
    waiting.signal.addEventListener('abort', questions.end);
    dialogues.add(questions);
    const ask = () => askOnSession(asking, { ...question, questions });
    try {
      // It may ask on the stream of nobody's call, which most clients have open.
      return await (owner === undefined || isEmpty(dialogue.capabilities) ? ask() : stream.during(ask));
    } finally {
      dialogues.delete(questions);
      questions.end();
    }
  }

  /**
   * Some servers ask on the stream of nobody's call. On one user's own session, with one request under way, there is no
   * other it could belong to.
   */
  function onlyDialogue(): Questions | undefined {
    const [only] = dialogues;
    return owner !== undefined && ending.inFlight.size === 1 ? only : undefined;
  }

  /** Best effort: nobody waits for it. */
  function retire(session: Session): void {
    if (session.id !== undefined) void endSession(target, presentNow(session), session.id, parts);
  }

  /** Once: a server that always finds a conflict would get session after session. */
  async function replace(session: Session): Promise<void> {
    if (replaced) return;
    replaced = true;
    if (session.id !== undefined) await endSession(target, presentNow(session), session.id, parts);
    await sessions.renew(session, { headers: credential, bearer }, { retire: false }).catch(nothing);
  }

  const presentNow = ({ own }: Session): Presented => ({
    headers: { ...target.headers, ...credential, ...own },
    bearer,
  });

  function present({ headers, bearer: by }: Presented): void {
    if (headers !== undefined) credential = headers;
    // What was opened without one may be everybody's: there it serves the request that brought it, and no other.
    if (by !== undefined && target.bearer) bearer = by;
  }

  return {
    get claims() {
      return sessions.current.claims;
    },
    request(method, params, given) {
      if (ending.over) return Promise.reject(new UpstreamError('ended'));
      const id = asking.nextId();
      present(given);
      const body = writeRequest({
        id,
        method,
        params,
        meta: given.meta,
        envelope: undefined,
        wantsLog: false,
      });
      const tell = (reason: string) => {
        const params = { requestId: id, reason };
        const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
        void post(notice, sessions.current.headersFor(given), given.bearer);
      };
      const { dialogue, logLevel } = given;
      return waitFor({ clock, inFlight: ending.inFlight }, given, tell, (waiting) => {
        const question = { id, body, given, waiting };
        if (dialogue === undefined && logLevel === undefined) return askOnSession(asking, question);
        const asked = () => inDialogue(dialogue, question);
        return logLevel === undefined || !logs(sessions.current)
          ? asked()
          : atLevel(logLevel, question, asked);
      });
    },
    listen(listener, { resources, onRenewed: heardOf, onFollowed, ...presented }) {
      // The same function may listen twice.
      const heard = heardBy(listener, resources);
      listeners.add(heard);
      const renewed = () => heardOf?.();
      renewals.add(renewed);
      const told = (lists: readonly ListKind[]) => onFollowed?.(lists);
      followers.add(told);
      told(followed);
      present(presented);
      const release = stream.need();
      return () => {
        listeners.delete(heard);
        renewals.delete(renewed);
        followers.delete(told);
        release();
      };
    },
    onClose: (listener) => ending.onClose(listener),
    async close() {
      if (!ending.end()) return;
      closing.abort();
      interrupt(ending);
      const session = sessions.current;
      if (session.id !== undefined) await endSession(target, presentNow(session), session.id, parts);
    },
  };
}

function nothing(): void {
  // Nobody waits for this.
}

/** What a server that dropped the old revisions answers to `initialize`. */
const PROTOCOL: ReadonlySet<UpstreamReason> = new Set([
  'rpc_error',
  'garbage',
  'bad_request',
  'wrong_url',
  'header_mismatch',
]);

/** Of nobody who could be asked anything. */
function isEmpty(capabilities: Json): boolean {
  return Object.keys(capabilities).length === 0;
}
