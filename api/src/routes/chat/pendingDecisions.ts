import type { Approvals, PendingApproval, UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import { AutoResetEvent, type Clock, abortReason } from '@behalf/kernel';
import type { AnswerRun } from './answerRuns.ts';

interface PendingDecisionParts {
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

type ApprovalOutcome = 'approved' | 'denied' | 'expired';

export type PendingApprovals = ReturnType<typeof createPendingApprovals>;

/** Calls of a chat that wait for the user's approval. The user may approve at another replica. */
export function createPendingApprovals(
  parts: PendingDecisionParts & { readonly approvals: Pick<Approvals, 'decide' | 'stateOf' | 'withdraw'> },
) {
  const { approvals, cache, changes, clock } = parts;
  const keyOf = (owner: UserPrincipal, conversationId: string, callId: string) =>
    JSON.stringify(['call', owner.tenant, owner.userId, conversationId, callId]);

  /** Invalidates an approval whose call did not run. Has no effect after the call ran. Never rejects. */
  const withdraw = ({ owner }: AnswerRun, approvalId: string): Promise<void> =>
    approvals.withdraw(owner, approvalId).catch(() => undefined);

  return {
    withdraw,
    /**
     * Waits for the decision. `requestApproval` asks the user, after the decision can be stored. Rejects with the reason of the
     * run's signal; the approval is invalid then.
     */
    async wait(
      run: AnswerRun,
      callId: string,
      approval: PendingApproval,
      requestApproval: () => Promise<void>,
    ): Promise<ApprovalOutcome> {
      const { owner, conversationId = '' } = run;
      const { id, expiresAt } = approval;
      const entry = { key: keyOf(owner, conversationId, callId), value: id, expiresAt };
      const read = async (): Promise<ApprovalOutcome | undefined> => {
        // A failed read is not a denial.
        const state = await approvals.stateOf(owner, id).catch(() => 'waiting' as const);
        if (state === 'gone') return clock.now() >= expiresAt ? 'expired' : 'denied';
        return state === 'approved' ? 'approved' : undefined;
      };
      try {
        return await waitForDecision(parts, run, entry, requestApproval, read);
      } catch (error) {
        await withdraw(run, id);
        throw error;
      }
    },
    /** The approval that a call waits for. Undefined if no such call of this user waits. */
    find: (caller: UserPrincipal, conversationId: string, callId: string): Promise<string | undefined> =>
      cache.get(keyOf(caller, conversationId, callId)),
    async decide(
      caller: UserPrincipal,
      conversationId: string,
      approvalId: string,
      approve: boolean,
    ): Promise<void> {
      await approvals.decide(caller, approvalId, approve);
      await changes.publish({ topic: 'conversations', id: conversationId });
    },
  };
}

/** Time for the waiting replica to read the outcome. */
const OUTCOME_TTL_MS = 60_000;

/** `declined`: the answer continues without the sign-in. */
type SignInOutcome = 'connected' | 'declined' | 'expired';

export type PendingSignIns = ReturnType<typeof createPendingSignIns>;

/** Calls of a chat that wait for the user to sign in to a server. The user may report the outcome at another replica. */
export function createPendingSignIns(parts: PendingDecisionParts) {
  const { cache, changes, clock } = parts;
  const keyOf = (owner: UserPrincipal, conversationId: string, callId: string) =>
    JSON.stringify(['sign-in', owner.tenant, owner.userId, conversationId, callId]);

  return {
    /**
     * Waits for the outcome. `requestSignIn` asks the user, after the outcome can be stored. Rejects with the reason of the run's
     * signal.
     */
    async wait(
      run: AnswerRun,
      callId: string,
      expiresAt: number,
      requestSignIn: () => Promise<void>,
    ): Promise<SignInOutcome> {
      const { owner, conversationId = '' } = run;
      const key = keyOf(owner, conversationId, callId);
      return waitForDecision(parts, run, { key, value: 'waiting', expiresAt }, requestSignIn, async () => {
        // A failed read does not end the wait.
        const stored = await cache.get(key).catch(() => 'waiting');
        if (stored === 'connected' || stored === 'declined') return stored;
        return stored === undefined || clock.now() >= expiresAt ? 'expired' : undefined;
      });
    },
    /**
     * Reports the outcome. Returns false if no such call of this user waits. `connected` grants nothing by itself: the call runs
     * again with all checks.
     */
    async resolve(
      caller: UserPrincipal,
      conversationId: string,
      callId: string,
      outcome: 'connected' | 'declined',
    ): Promise<boolean> {
      const key = keyOf(caller, conversationId, callId);
      if ((await cache.get(key)) === undefined) return false;
      await cache.set(key, outcome, OUTCOME_TTL_MS);
      await changes.publish({ topic: 'conversations', id: conversationId });
      return true;
    },
  };
}

/** Covers lost change notifications, and decisions through other entry points, which publish none. */
const POLL_MS = 2_000;

/**
 * Stores the entry of a waiting call, asks the user, and reads until there is a decision: after each change of the conversation,
 * and regularly. Rejects with the reason of the run's signal.
 */
async function waitForDecision<T>(
  { cache, clock }: PendingDecisionParts,
  { signal, onChange }: Pick<AnswerRun, 'signal' | 'onChange'>,
  { key, value, expiresAt }: { readonly key: string; readonly value: string; readonly expiresAt: number },
  ask: () => Promise<void>,
  read: () => Promise<T | undefined>,
): Promise<T> {
  const changed = new AutoResetEvent();
  const wake = () => changed.set();
  const unsubscribe = onChange(wake);
  signal.addEventListener('abort', wake);
  const isStopped = () => signal.aborted;
  try {
    await cache.set(key, value, Math.max(1, expiresAt - clock.now()));
    await ask();
    while (!isStopped()) {
      const decision = await read();
      // The run may have stopped during the read. A decision is too late then.
      if (isStopped()) break;
      if (decision !== undefined) return decision;
      const cancelPoll = clock.timer(POLL_MS, wake);
      await changed.wait();
      cancelPoll();
    }
    throw abortReason(signal);
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
    await cache.delete(key).catch(() => undefined);
  }
}
