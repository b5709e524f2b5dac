import type { CredentialKey } from '../../ports/index.ts';
import type { Question } from './judge.ts';
import type { HeldToken, TokenOutcome } from './vault.ts';

/** One renewal of one credential, from its first look to its outcome. */
export interface Course {
  readonly key: CredentialKey;
  readonly id: string;
  /** Whose claim it is: nobody else's in any process. */
  readonly owner: string;
  /** The access token that a server refused. */
  readonly refused: string | undefined;
  /** Nobody waits for it. */
  readonly isEarly: boolean;
  /** What may be done once was done. */
  hasRetried: boolean;
  hasRediscovered: boolean;
}

export type Step =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  /** Look anew, after a while or when something is told. */
  | { readonly kind: 'again'; readonly afterMs: number }
  /** Somebody else is renewing it. */
  | { readonly kind: 'busy' };

export const lookAgain: Step = { kind: 'again', afterMs: 0 };

/** What still lives is better than a failure. */
export function lastOr(last: HeldToken | undefined, otherwise: TokenOutcome): Step {
  return { kind: 'outcome', outcome: last ? { kind: 'token', token: last } : otherwise };
}

/** What was begun is ended: who tries again does not stop because the old token would do. */
export function questionOf({ refused, isEarly, hasRetried }: Course, now: number): Question {
  return { refused, isEarly: isEarly || hasRetried, now };
}
