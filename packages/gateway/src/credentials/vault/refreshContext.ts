import type { CredentialKey } from '../../ports/index.ts';
import type { DecisionInput } from './evaluateCredential.ts';
import type { VaultToken, TokenOutcome } from './vault.ts';

/** One renewal of one credential, from its first look to its outcome. */
export interface RefreshContext {
  readonly key: CredentialKey;
  readonly id: string;
  /** Whose claim it is: nobody else's in any process. */
  readonly owner: string;
  /** The access token that a server refused. */
  readonly refusedToken: string | undefined;
  /** Nobody waits for it. */
  readonly isEarly: boolean;
  /** What may be done once was done. */
  hasRetried: boolean;
  hasRediscovered: boolean;
}

export type RefreshStep =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  /** Look anew, after a while or when something is told. */
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** Somebody else is renewing it. */
  | { readonly kind: 'busy' };

export const retryNow: RefreshStep = { kind: 'retry', afterMs: 0 };

/** What still lives is better than a failure. */
export function fallbackOr(fallback: VaultToken | undefined, outcome: TokenOutcome): RefreshStep {
  return { kind: 'outcome', outcome: fallback ? { kind: 'token', token: fallback } : outcome };
}

/** What was begun is ended: who tries again does not stop because the old token would do. */
export function toDecisionInput(
  { refusedToken, isEarly, hasRetried }: RefreshContext,
  now: number,
): DecisionInput {
  return { refusedToken, isEarly: isEarly || hasRetried, now };
}
