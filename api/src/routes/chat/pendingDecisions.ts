import type { Approvals, PendingApproval, UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { type Clock, abortReason } from '@behalf/kernel';
import type { AnswerRun } from './answerRuns.ts';

interface PendingApprovalsParts {
  readonly approvals: Pick<Approvals, 'decide' | 'stateOf' | 'withdraw'>;
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

type ApprovalOutcome = 'approved' | 'denied' | 'expired';

/** Calls of a chat that wait for their user's word, which may be given at another replica. */
export interface PendingApprovals {
  /**
   * The user's word; `ask` asks for it, once it can be given. Rejects with the reason of the answer's signal, and nobody
   * can approve the call any more then.
   */
  wait(
    run: AnswerRun,
    callId: string,
    approval: PendingApproval,
    requestApproval: () => Promise<void>,
  ): Promise<ApprovalOutcome>;
  /** What was approved and did not run cannot run any more. Nothing where it did; never rejects. */
  withdraw(run: AnswerRun, approvalId: string): Promise<void>;
  /** Which approval a call waits for; undefined where no such call of this user waits. */
  find(caller: UserPrincipal, conversationId: string, callId: string): Promise<string | undefined>;
  decide(caller: UserPrincipal, conversationId: string, approvalId: string, approve: boolean): Promise<void>;
}

export function createPendingApprovals({
  approvals,
  cache,
  changes,
  clock,
}: PendingApprovalsParts): PendingApprovals {
  const waitForOutcome = (run: AnswerRun, approval: PendingApproval) =>
    waitForDecision<ApprovalOutcome>(run, clock, async () => {
      // A store that does not answer has not said no.
      const state = await approvals.stateOf(run.owner, approval.id).catch(() => 'waiting' as const);
      if (state === 'gone') return clock.now() >= approval.expiresAt ? 'expired' : 'denied';
      return state === 'approved' ? 'approved' : undefined;
    });

  const withdraw: PendingApprovals['withdraw'] = ({ owner }, id) =>
    approvals.withdraw(owner, id).catch(() => undefined);

  return {
    withdraw,
    async wait(run, callId, approval, requestApproval) {
      const { owner, conversationId = '' } = run;
      const key = approvalKey(owner, conversationId, callId);
      let outcome: ApprovalOutcome | undefined;
      try {
        await cache.set(key, approval.id, Math.max(1, approval.expiresAt - clock.now()));
        await requestApproval();
        outcome = await waitForOutcome(run, approval);
        return outcome;
      } finally {
        if (outcome === undefined) await withdraw(run, approval.id);
        await cache.delete(key).catch(() => undefined);
      }
    },
    find: (caller, conversationId, callId) => cache.get(approvalKey(caller, conversationId, callId)),
    async decide(caller, conversationId, approvalId, approve) {
      await approvals.decide(caller, approvalId, approve);
      await changes.publish({ topic: 'conversations', id: conversationId });
    },
  };
}

function approvalKey({ tenant, userId }: UserPrincipal, conversationId: string, callId: string): string {
  return JSON.stringify(['call', tenant, userId, conversationId, callId]);
}

interface PendingSignInsParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

/** `declined`: the answer shall go on without. */
type SignInOutcome = 'connected' | 'declined' | 'expired';

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

/** A word is told with a notice. One that came by another door, or whose notice was lost, is seen after this. */
const POLL_MS = 2_000;

/**
 * Reads what was said until somebody said something, and again with all news of the conversation. Rejects with the
 * reason of the answer's signal.
 */
async function waitForDecision<T>(
  { signal, onChange }: Pick<AnswerRun, 'signal' | 'onChange'>,
  clock: Clock,
  read: () => Promise<T | undefined>,
): Promise<T> {
  const event = createAutoResetEvent(clock);
  const unsubscribe = onChange(event.set);
  signal.addEventListener('abort', event.set);
  const isStopped = () => signal.aborted;
  try {
    while (!isStopped()) {
      const decision = await read();
      // Stopped while that was read: the word came too late.
      if (isStopped()) break;
      if (decision !== undefined) return decision;
      await event.wait(POLL_MS);
    }
    throw abortReason(signal);
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', event.set);
  }
}

/** Wakes whoever waits for it, and does not forget a ring that nobody waited for. */
interface AutoResetEvent {
  readonly set: () => void;
  /** Until it rings, or rang since the last time; at most so long. */
  wait(ms: number): Promise<void>;
}

function createAutoResetEvent(clock: Clock): AutoResetEvent {
  let isSet = false;
  let wake: () => void = () => undefined;
  return {
    set() {
      isSet = true;
      wake();
    },
    async wait(ms) {
      if (!isSet) {
        await new Promise<void>((resolve) => {
          const cancel = clock.timer(ms, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      }
      isSet = false;
    },
  };
}
