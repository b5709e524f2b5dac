import type { UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { AnswerRun } from './answerRun.ts';
import { waitForDecision } from './waitForDecision.ts';

export interface PendingSignInsParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

/** `declined`: the answer shall go on without. */
export type SignInOutcome = 'connected' | 'declined' | 'expired';

/** Calls of a chat that wait until their user has signed in at a server, which may be told at another replica. */
export interface PendingSignIns {
  /** `ask` asks for it, once the word can be given. Rejects with the reason of the answer's signal. */
  wait(
    run: AnswerRun,
    callId: string,
    expiresAt: number,
    requestSignIn: () => Promise<void>,
  ): Promise<SignInOutcome>;
  /** False where no such call of this user waits. The word opens nothing: the call is made as if for the first time. */
  resolve(
    caller: UserPrincipal,
    conversationId: string,
    callId: string,
    outcome: 'connected' | 'declined',
  ): Promise<boolean>;
}

export function createPendingSignIns({ cache, changes, clock }: PendingSignInsParts): PendingSignIns {
  return {
    async wait(run, callId, expiresAt, requestSignIn) {
      const { owner, conversationId = '' } = run;
      const key = signInKey(owner, conversationId, callId);
      try {
        await cache.set(key, 'waiting', Math.max(1, expiresAt - clock.now()));
        await requestSignIn();
        return await waitForDecision(run, clock, async () => {
          // A store that does not answer has not said that it is over.
          const stored = await cache.get(key).catch(() => 'waiting');
          if (stored === 'connected' || stored === 'declined') return stored;
          return stored === undefined || clock.now() >= expiresAt ? 'expired' : undefined;
        });
      } finally {
        await cache.delete(key).catch(() => undefined);
      }
    },
    async resolve(caller, conversationId, callId, outcome) {
      const key = signInKey(caller, conversationId, callId);
      if ((await cache.get(key)) === undefined) return false;
      await cache.set(key, outcome, OUTCOME_TTL_MS);
      await changes.publish({ topic: 'conversations', id: conversationId });
      return true;
    },
  };
}

/** Long enough to be read by who waits; they end what nobody reads. */
const OUTCOME_TTL_MS = 60_000;

function signInKey({ tenant, userId }: UserPrincipal, conversationId: string, callId: string): string {
  return JSON.stringify(['sign-in', tenant, userId, conversationId, callId]);
}
