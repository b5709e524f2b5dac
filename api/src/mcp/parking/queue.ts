import type { JsonObject } from '@behalf/gateway';
import { abortReason, type Cancellation } from '@behalf/kernel';
import { isObject } from '../message.ts';

export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** The questions of one call: those that wait to be told, and those that wait for an answer. */
export interface Queue {
  /** Whether something waits to be told. */
  readonly waits: boolean;
  /** Rejects when nobody answers. `isHeard`: somebody is there, so that it is not kept for long. */
  add(question: Omit<Question, 'key'>, signal: Cancellation, isHeard: boolean): Promise<JsonObject>;
  /** Takes those out that may be told; the others are not answered. */
  take(mayTell: (question: Question) => boolean): readonly Question[];
  /** What was told and is not answered now never will be. */
  answer(responses: JsonObject): void;
  dismiss(reason: Error): void;
}

/** Of what waits while nobody is there: memory that a server fills and nobody empties. */
const MOST_KEPT = 64 * 1024;

interface Waiting {
  readonly resolve: (answer: JsonObject) => void;
  readonly reject: (reason: Error) => void;
}

export function createQueue(): Queue {
  const untold = new Map<string, { question: Question; size: number }>();
  const unanswered = new Map<string, Waiting>();
  let asked = 0;
  let kept = 0;

  function forget(key: string): void {
    kept -= untold.get(key)?.size ?? 0;
    untold.delete(key);
    unanswered.delete(key);
  }

  return {
    get waits() {
      return untold.size > 0;
    },
    add: (given, signal, isHeard) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(abortReason(signal));
        asked += 1;
        const key = `q${asked}`;
        const size = isHeard ? 0 : JSON.stringify(given.params).length;
        if (kept + size > MOST_KEPT) return reject(new Error('Nobody is there for that much'));
        kept += size;
        const over = () => {
          signal.removeEventListener('abort', withdrawn);
          forget(key);
        };
        const withdrawn = () => {
          over();
          reject(abortReason(signal));
        };
        signal.addEventListener('abort', withdrawn);
        untold.set(key, { question: { ...given, key }, size });
        unanswered.set(key, {
          resolve(answer) {
            over();
            resolve(answer);
          },
          reject(reason) {
            over();
            reject(reason);
          },
        });
      }),
    take(mayTell) {
      const told: Question[] = [];
      for (const [key, { question, size }] of [...untold]) {
        untold.delete(key);
        kept -= size;
        if (mayTell(question)) told.push(question);
        else unanswered.get(key)?.reject(new Error('The client cannot be asked this now'));
      }
      return told;
    },
    answer(responses) {
      for (const [key, { resolve, reject }] of [...unanswered]) {
        if (untold.has(key)) continue;
        const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
        if (isObject(response)) resolve(withoutKind(response));
        else reject(new Error('The client did not answer'));
      }
    },
    dismiss(reason) {
      for (const { reject } of [...unanswered.values()]) reject(reason);
    },
  };
}

/** Results of the era before have no kind. */
function withoutKind({ resultType: _kind, ...answer }: JsonObject): JsonObject {
  return answer;
}
