import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { readAnswer } from '../http/readAnswer.ts';
import type { Bearer } from '../target.ts';
import type { Answer, Era, Json, RequestOptions } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import type { Channel } from './channel.ts';
import { createQuestions, DIALOGUE_MS, type Questions } from '../askPeer.ts';
import type { Reply } from '../dialogue.ts';
import { objectOrEmpty } from './message.ts';
import { NoToken } from './noToken.ts';

export interface PeerParts {
  readonly clock: Clock;
  /** As far as it is known yet: it decides how an answer is read. */
  readonly era: () => Era;
  /** Whether it is one user's alone: then a question that comes while one call is under way is that call's. */
  readonly isOwned?: boolean;
  /** Answers what the server asks and nobody is asked. */
  readonly serve: (method: string, params: Json) => Reply;
  /** A notification that no request of ours claims. */
  readonly notice: (method: string, params: Json) => void;
  /** Of whoever opened the channel, until a request presents another. */
  readonly bearer?: Bearer | undefined;
}

export interface PeerRequest extends Omit<RequestOptions, 'headers' | 'extraHeaders'> {
  /** A subscription: nobody's call, however long it waits. */
  readonly standing?: boolean;
}

export interface Peer {
  /** Resolves with what the server answered, as it came. */
  request(method: string, params: Json, options: PeerRequest): Promise<Answer>;
  /** Resolves when it was sent, or could not be: nobody waits for an answer. Gives what it was not sent for lack of. */
  notify(method: string, params?: Json): Promise<NoToken | undefined>;
  /** The calls that wait for an answer now. */
  readonly underway: readonly PeerRequest[];
  onClose(listener: () => void): void;
}

interface Waiting {
  readonly options: PeerRequest;
  /** Where the caller can be asked. */
  readonly questions: Questions | undefined;
  heard(params: Json): void;
  answered(message: Json): void;
  failed(error: Error): void;
}

/** A server that asks faster than it reads our answers gets none: they would pile up in our memory. */
const ANSWERS_AT_ONCE = 64;

/**
 * JSON-RPC over one channel, for both sides. The SDK's client would check and copy every result, and its timers know
 * no clock of ours. Progress reaches the request that it names and no other: several users may share the channel.
 */
export function createPeer(
  channel: Channel,
  { clock, era, serve, notice, bearer, isOwned = false }: PeerParts,
): Peer {
  const waiting = new Map<unknown, Waiting>();
  const closeListeners = new Set<() => void>();
  let nextId = 1;
  let answering = 0;
  let closed = false;
  /** The last one that was presented: our answers and notifications go out with it too. */
  let presented = bearer;
  /** Why the channel is about to close, when it knows. */
  let cause: UpstreamError | undefined;

  function post(message: object, by = presented, goesOn?: () => boolean): Promise<void> {
    const whole = { jsonrpc: '2.0', ...message } as JSONRPCMessage;
    if (!by) return channel.send(whole);
    // It would be dropped on the way, and the request run as somebody else's.
    if (!channel.sendAs) return Promise.reject(new UpstreamError('bearer_unsupported'));
    return channel.sendAs(whole, { bearer: by, ...(goesOn && { goesOn }) });
  }

  channel.onmessage = (message) => receive(message);
  channel.onerror = (error) => {
    if (error instanceof UpstreamError) cause = error;
  };
  channel.onfailure = (id, error) => waiting.get(id)?.failed(error);
  channel.onclose = () => {
    closed = true;
    const calls = [...waiting.values()];
    const alone = calls.filter(({ options }) => !options.standing).length === 1;
    // They were sent, and nobody knows what became of them. Of several, nobody knows whose answer was too large either.
    const why =
      cause && (cause.reason !== 'too_large' || alone) ? cause : new UpstreamError('reset', { cause });
    for (const request of calls) request.failed(why);
    for (const listener of closeListeners) quietly(listener);
    closeListeners.clear();
  };

  function receive(message: Json): void {
    const { id, method } = message;
    if (typeof method === 'string') {
      const params = objectOrEmpty(message['params']);
      if (id === undefined) hear(method, params);
      else if (typeof id === 'string' || typeof id === 'number') answer(id, method, params);
      return;
    }
    // Unknown ids are late answers to what was given up.
    waiting.get(id)?.answered(message);
  }

  function hear(method: string, params: Json): void {
    if (method === 'notifications/progress') waiting.get(params['progressToken'])?.heard(params);
    else if (method === 'notifications/cancelled') {
      for (const { questions } of waiting.values()) questions?.withdraw(params['requestId']);
    } else quietly(() => notice(method, params));
  }

  function answer(id: string | number, method: string, params: Json): void {
    if (answering >= ANSWERS_AT_ONCE) return;
    answering += 1;
    const asked = callUnderWay()?.questions?.ask(id, method, params);
    const posted = asked
      ? asked.then((reply) => post({ id, ...reply }))
      : post({ id, ...serve(method, params) });
    posted.catch(() => undefined).finally(() => (answering -= 1));
  }

  /** The only one, on a channel of one user. Of several, nothing says which one a question belongs to. */
  function callUnderWay(): Waiting | undefined {
    if (!isOwned) return undefined;
    const [only, another] = [...waiting.values()].filter(({ options }) => !options.standing);
    return another ? undefined : only;
  }

  async function notify(method: string, params: Json = {}): Promise<NoToken | undefined> {
    if (closed) return undefined;
    return post({ method, params }).then(
      () => undefined,
      (error: unknown) => (error instanceof NoToken ? error : undefined),
    );
  }

  return {
    get underway() {
      return [...waiting.values()].map(({ options }) => options).filter(({ standing }) => !standing);
    },
    notify,
    onClose(listener) {
      // It may have ended before anybody could listen.
      if (closed) listener();
      else closeListeners.add(listener);
    },
    request: (method, params, options) =>
      new Promise((resolve, reject) => {
        const { signal } = options;
        if (signal.aborted) return reject(abortReason(signal));
        if (closed) return reject(new UpstreamError('ended', { cause }));
        const by = options.bearer ?? presented;
        // What was opened without one may be everybody's: there it serves the request that brought it, and no other.
        if (bearer) presented = by;
        const id = nextId;
        nextId += 1;
        const begun = clock.now();
        const longest = begun + Math.max(options.totalMs, DIALOGUE_MS);
        let deadline = begun + options.totalMs;
        let heardAt = begun;
        /** People who are asked at this moment, and since when anybody is. */
        let people = 0;
        let askedAt = 0;
        /** Until its token is at hand nothing of it is on its way. */
        let unsent = by !== undefined;
        let stopTimer: Cancel = () => undefined;

        const settle = () => {
          waiting.delete(id);
          stopTimer();
          questions?.end();
          signal.removeEventListener('abort', onAbort);
        };
        const failed = (error: Error) => {
          settle();
          reject(error);
        };
        const giveUp = (error: Error, reason: string) => {
          failed(error);
          if (unsent) return;
          // The protocol forbids cancelling the handshake.
          if (method !== 'initialize') void notify('notifications/cancelled', { requestId: id, reason });
        };
        const onAbort = () => giveUp(abortReason(signal), 'The caller gave up');
        // Progress only notes the time: a server that reports a thousand times a second starts no thousand timers.
        const watch = () => {
          const patience = people > 0 ? longest : Math.min(heardAt + options.timeoutMs, deadline);
          const left = patience - clock.now();
          if (left <= 0) giveUp(new UpstreamError(unsent ? 'token_late' : 'timeout'), 'Time is up');
          // A subscription has no end, and must not keep the process alive.
          else if (left < Infinity) stopTimer = clock.timer(left, watch, { hold: true });
        };

        /** Time that a person takes is not the server's silence. */
        const forPerson = async <T>(asked: Promise<T>): Promise<T> => {
          if (people === 0) askedAt = clock.now();
          people += 1;
          try {
            return await asked;
          } finally {
            people -= 1;
            if (people === 0 && waiting.has(id)) {
              heardAt = clock.now();
              deadline = Math.min(deadline + heardAt - askedAt, longest);
              stopTimer();
              watch();
            }
          }
        };
        const { dialogue } = options;
        const questions = dialogue?.era === 'legacy' ? createQuestions({ dialogue, forPerson }) : undefined;

        waiting.set(id, {
          options,
          questions,
          failed,
          heard(progress) {
            heardAt = clock.now();
            quietly(() => options.onProgress?.(progress));
          },
          answered(message) {
            settle();
            try {
              resolve(readAnswer(message, id, era()));
            } catch (error) {
              reject(error instanceof UpstreamError ? error : new UpstreamError('garbage'));
            }
          },
        });
        signal.addEventListener('abort', onAbort);
        watch();
        const _meta = { ...objectOrEmpty(params['_meta']), ...options.meta, progressToken: id };
        const goesOn = () => {
          unsent = false;
          return waiting.has(id);
        };
        post({ id, method, params: { ...params, _meta } }, by, goesOn).catch((error: unknown) => {
          if (!waiting.has(id)) return;
          const known = error instanceof UpstreamError || error instanceof NoToken;
          failed(known ? error : new UpstreamError('reset', { cause: error }));
        });
      }),
  };
}

/** A listener that throws must not break the reading of the channel. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Its own affair.
  }
}
