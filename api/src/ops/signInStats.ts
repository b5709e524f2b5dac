import type { CallbackResult } from '@behalf/gateway';

/** How sign-ins at servers ended when their users came back from the authorization server. */
export interface SignInStats {
  count(finished: Pick<CallbackResult, 'ok' | 'error'>): void;
  /** `ok`, or a code of ours: never a word of who sent it. */
  readonly outcomes: ReadonlyMap<string, number>;
}

export function createSignInStats(): SignInStats {
  const outcomes = new Map<string, number>();
  return {
    count({ ok, error = 'callback_failed' }) {
      const outcome = ok ? 'ok' : error;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    },
    outcomes,
  };
}
