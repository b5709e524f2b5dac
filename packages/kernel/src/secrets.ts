import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** Wraps a secret so that string conversion, JSON and `util.inspect` do not show it. `reveal` returns it. */
export class HiddenText {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return '[hidden]';
  }

  toJSON(): string {
    return '[hidden]';
  }

  [inspect.custom](): string {
    return '[hidden]';
  }
}

/** Compares secrets in constant time. Hashing both first also hides their lengths. */
export function areSecretsEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
