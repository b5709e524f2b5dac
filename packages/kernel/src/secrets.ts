import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** A secret that travels through memory: no log, no JSON and no inspection shows it. Only who asks for it gets it. */
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

/** Compares secrets without telling by time where they differ, nor how long they are. */
export function areSecretsEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
