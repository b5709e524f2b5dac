import { filterCapabilities, GatewayError, isServerRequestAllowed, type JsonObject } from '@behalf/gateway';
import { abortReason, LightCancellation, type Cancellation, type Clock } from '@behalf/kernel';
import { isObject } from '../message.ts';
import { createQueue, type Question } from './queue.ts';

/** The request of the client that waits for the call at this moment. */
export interface Attendant {
  /** Of a client that leaves: that is its cancellation. */
  readonly signal: Cancellation;
  /** As this very request declared them. */
  readonly capabilities: JsonObject;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  readonly onLog?: ((params: JsonObject) => void) | undefined;
}

/** A request to a legacy server that goes on while its modern client is away, between a question and the answer. */
export interface ParkedCall {
  /** Of the request to the server. */
  readonly signal: Cancellation;
  readonly onProgress: (params: JsonObject) => void;
  readonly onLog: (params: JsonObject) => void;
  /** Puts a question of the server to the client, whenever it is there. */
  ask(method: string, params: JsonObject, signal: Cancellation): Promise<JsonObject>;
  /** What the request came to. */
  settle(outcome: Promise<string>): void;
  /** Waits with this request: gives the text of the result, or that of the next questions. */
  attend(attendant: Attendant): Promise<string>;
  /** What the client answered to what it was told last. Whatever it left out is not answered. */
  answer(responses: JsonObject): void;
  /** Nobody waits any more: the server is told so. */
  end(reason: Error): void;
}

export interface ParkedCallParts {
  readonly clock: Clock;
  /** Before anything is asked: whether there is room for one that waits. Throws where there is none. */
  readonly enter: () => void;
  /** Keeps the call for a client that comes again, and gives the text that tells it the questions. */
  readonly park: (inputRequests: JsonObject) => Promise<string>;
  /** It is over, whichever way. */
  readonly onOver: () => void;
}

/** A server that asks several things at once has asked them by then: they are one round. */
const GATHER_MS = 30;
/** A result that comes while nobody is there is kept up to this size. */
const LONGEST_KEPT = 256 * 1024;

export function createParkedCall({ clock, enter, park, onOver }: ParkedCallParts): ParkedCall {
  const signal = new LightCancellation();
  const queue = createQueue();
  let waiting: { attendant: Attendant; leave: () => void; give: Give } | undefined;
  let outcome: Outcome | undefined;
  let entered = false;
  let telling = false;

  function detach(): Give | undefined {
    const was = waiting;
    waiting = undefined;
    was?.attendant.signal.removeEventListener('abort', was.leave);
    return was?.give;
  }

  function end(reason: Error): void {
    queue.dismiss(reason);
    signal.abort(reason);
    detach()?.reject(reason);
    onOver();
  }

  function deliver(): void {
    if (!outcome || !waiting || telling) return;
    const give = detach();
    if ('text' in outcome) give?.resolve(outcome.text);
    else give?.reject(outcome.error);
    onOver();
  }

  /** Who is to be told questions: nobody is once there is a result. */
  function whoWaits(): Attendant | undefined {
    return outcome ? undefined : waiting?.attendant;
  }

  /** Those that are there by now, together; the others with the next round. */
  async function tell(): Promise<void> {
    if (telling || !whoWaits()) return;
    telling = true;
    try {
      await new Promise<void>((resolve) => void clock.timer(GATHER_MS, resolve));
      const attendant = whoWaits();
      // Gone meanwhile; or it was answered, which is what the client hears.
      if (!attendant) return;
      const capabilities = filterCapabilities(attendant.capabilities, ['sampling', 'roots']);
      const questions = queue.take(({ method, params }) =>
        isServerRequestAllowed(capabilities, method, params),
      );
      if (questions.length === 0) return;
      const text = await park(requestsOf(questions));
      detach()?.resolve(text);
    } catch (error) {
      queue.dismiss(error as Error);
    } finally {
      telling = false;
      deliver();
      // Another request waits by now, or another question came while this round was told.
      if (whoWaits() && queue.waits) void tell();
    }
  }

  return {
    signal,
    onProgress: (params) => waiting?.attendant.onProgress?.(params),
    onLog: (params) => waiting?.attendant.onLog?.(params),
    async ask(method, params, asked) {
      if (!entered) enter();
      entered = true;
      const answer = queue.add({ method, params }, asked, waiting !== undefined);
      void tell();
      return answer;
    },
    settle(promise) {
      promise
        .then(
          (text): Outcome => (waiting || text.length <= LONGEST_KEPT ? { text } : { error: tooLong() }),
          (error: unknown): Outcome => ({ error: error as Error }),
        )
        .then((settled) => {
          outcome = settled;
          deliver();
        })
        .catch(() => undefined);
    },
    attend: (attendant) =>
      new Promise((resolve, reject) => {
        const leave = () => end(abortReason(attendant.signal));
        waiting = { attendant, leave, give: { resolve, reject } };
        if (attendant.signal.aborted) return leave();
        attendant.signal.addEventListener('abort', leave);
        deliver();
        if (queue.waits) void tell();
      }),
    answer: (responses) => queue.answer(responses),
    end,
  };
}

function tooLong(): Error {
  return new GatewayError('MCP_RESPONSE_TOO_LARGE', {
    detail: 'The result came while nobody waited for it, and was too long to be kept.',
  });
}

type Outcome = { readonly text: string } | { readonly error: Error };

interface Give {
  readonly resolve: (text: string) => void;
  readonly reject: (error: Error) => void;
}

function requestsOf(questions: readonly Question[]): JsonObject {
  return Object.fromEntries(
    questions.map(({ key, method, params }) => {
      // The modern era has no name for a page: the answer finds it by the key.
      const { elicitationId: _id, ...asked } = params;
      return [key, { method, ...(isObject(asked) && Object.keys(asked).length > 0 && { params: asked }) }];
    }),
  );
}
