import { LightCancellation } from '@behalf/kernel';
import { mayAsk, replyOfNoAnswer, type Dialogue, type Reply } from './dialogue.ts';
import type { Json } from './upstream.ts';

/** The longest a call lasts when people are asked in it. */
export const DIALOGUE_MS = 600_000;

/** Questions of one call in all, and those that wait at once: a server must not wear a user down. */
const MOST_QUESTIONS = 16;
const MOST_AT_ONCE = 4;
/** A picture fits in. */
const LONGEST_TEXT = 1024 * 1024;

/** The questions of one call, and the one who may be asked them. */
export interface Questions {
  /** Never rejects: a server always gets a reply. Undefined: nobody is asked this. */
  ask(id: unknown, method: unknown, params: Json): Promise<Reply> | undefined;
  /** The server took a question back. */
  withdraw(id: unknown): void;
  /** The call is over, whichever way: nobody waits for an answer any more. */
  readonly end: () => void;
}

export interface QuestionParts {
  readonly dialogue: Extract<Dialogue, { era: 'legacy' }>;
  /** Time that a person takes is not the server's silence. */
  readonly forPerson: <T>(asked: Promise<T>) => Promise<T>;
}

export function createQuestions({ dialogue, forPerson }: QuestionParts): Questions {
  const waiting = new Map<unknown, LightCancellation>();
  let asked = 0;
  let over = false;

  async function relay(id: unknown, method: string, params: Json): Promise<Reply> {
    const signal = new LightCancellation();
    asked += 1;
    waiting.set(id, signal);
    try {
      const result = await forPerson(dialogue.ask(method, params, signal));
      return JSON.stringify(result).length > LONGEST_TEXT ? replyOfNoAnswer(method, undefined) : { result };
    } catch (error) {
      return replyOfNoAnswer(method, error);
    } finally {
      waiting.delete(id);
    }
  }

  return {
    ask(id, method, params) {
      if (over || asked >= MOST_QUESTIONS || waiting.size >= MOST_AT_ONCE || waiting.has(id))
        return undefined;
      if (typeof method !== 'string' || !mayAsk(dialogue.capabilities, method, params)) return undefined;
      return JSON.stringify(params).length > LONGEST_TEXT ? undefined : relay(id, method, params);
    },
    withdraw: (id) => waiting.get(id)?.abort(new DOMException('The server withdrew it', 'AbortError')),
    end() {
      over = true;
      for (const signal of waiting.values()) {
        signal.abort(new DOMException('The call is over', 'AbortError'));
      }
    },
  };
}
