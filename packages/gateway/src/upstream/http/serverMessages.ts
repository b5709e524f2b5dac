import type { HeaderValues, Json, Notice } from '../upstream.ts';
import { isObject, type Message } from './readAnswer.ts';

/** Answers to the server that may be under way at once: a flood of questions must not become a flood of requests. */
const MOST_ANSWERS = 16;

/** A request of the server, on whatever stream: it is answered, but nobody is asked. */
export interface Answerer {
  answer(question: Message, headers: HeaderValues): void;
}

export function createAnswerer(post: (body: string, headers: HeaderValues) => Promise<void>): Answerer {
  let underWay = 0;
  return {
    answer(question, headers) {
      const { id } = question;
      if ((typeof id !== 'string' && typeof id !== 'number') || underWay >= MOST_ANSWERS) return;
      underWay += 1;
      void post(JSON.stringify({ jsonrpc: '2.0', id, ...reply(question.method) }), headers).finally(() => {
        underWay -= 1;
      });
    },
  };
}

/** A form is dismissed as if its user had closed it; a model and a file system are not ours to lend. */
function reply(method: unknown): Json {
  if (method === 'ping') return { result: {} };
  if (method === 'elicitation/create') return { result: { action: 'cancel' } };
  return { error: { code: -32601, message: 'Method not found' } };
}

/**
 * Only changes of lists are for everybody. Anything else that comes unasked may be about one user, and which one is
 * known only to the stream of that user's own request.
 */
export function asNotice({ method, params }: Message): Notice | undefined {
  if (
    typeof method !== 'string' ||
    !/^notifications\/(tools|prompts|resources)\/list_changed$/.test(method)
  ) {
    return undefined;
  }
  return { method, params: isObject(params) ? params : {} };
}

export interface Listeners {
  readonly size: number;
  add(listener: (notice: Notice) => void): void;
  delete(listener: (notice: Notice) => void): void;
  tell(notice: Notice): void;
}

export function createListeners(): Listeners {
  const listeners = new Set<(notice: Notice) => void>();
  return {
    get size() {
      return listeners.size;
    },
    add: (listener) => void listeners.add(listener),
    delete: (listener) => void listeners.delete(listener),
    tell(notice) {
      for (const listener of [...listeners]) {
        try {
          listener(notice);
        } catch {
          // It came on somebody's answer, who must not lose it over a listener's fault.
        }
      }
    },
  };
}
