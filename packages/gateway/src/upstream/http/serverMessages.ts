import type { Questions } from '../askPeer.ts';
import { replyOfNobody, type Reply } from '../dialogue.ts';
import type { Bearer } from '../target.ts';
import type { HeaderValues, Notice } from '../upstream.ts';
import { isObject, type Message } from './readAnswer.ts';

/** Answers to the server that may be under way at once: a flood of questions must not become a flood of requests. */
const MOST_ANSWERS = 16;

/** On which stream it came: what is presented with the answer, and who may be asked. */
export interface AskedOn {
  readonly headers: HeaderValues;
  readonly bearer?: Bearer | undefined;
  /** Absent where nothing says for whose call the server asks. */
  readonly questions?: Questions | undefined;
}

/** A request of the server, on whatever stream: it is answered, by us or by the one whose call it belongs to. */
export interface Answerer {
  answer(question: Message, on: AskedOn): void;
}

type Post = (body: string, headers: HeaderValues, bearer?: Bearer) => Promise<void>;

export function createAnswerer(post: Post): Answerer {
  let underWay = 0;
  return {
    answer({ id, method, params }, { headers, bearer, questions }) {
      if ((typeof id !== 'string' && typeof id !== 'number') || underWay >= MOST_ANSWERS) return;
      const send = (reply: Reply) => post(JSON.stringify({ jsonrpc: '2.0', id, ...reply }), headers, bearer);
      const asked = questions?.ask(id, method, isObject(params) ? params : {});
      if (asked) {
        // They are few by themselves, and each took somebody's time.
        void asked.then(send);
        return;
      }
      underWay += 1;
      void send(replyOfNobody(method)).finally(() => {
        underWay -= 1;
      });
    },
  };
}

export const UPDATED = 'notifications/resources/updated';
const NOTICE = /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/;

/**
 * Only changes of lists are for everybody, and an updated resource for who subscribed it (`heardBy`). Anything else that
 * comes unasked may be about one user, and which one is known only to the stream of that user's own request.
 */
export function asNotice({ method, params }: Message): Notice | undefined {
  if (typeof method !== 'string' || !NOTICE.test(method)) return undefined;
  return { method, params: isObject(params) ? params : {} };
}

/** Tells a listener what is meant for it. */
export function heardBy(
  listener: (notice: Notice) => void,
  resources: readonly string[] = [],
): (notice: Notice) => void {
  return (notice) => {
    const { method, params } = notice;
    if (method !== UPDATED || resources.includes(String(params['uri']))) listener(notice);
  };
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
