import type { Approvals, PendingApproval, UserPrincipal } from '@behalf/gateway';
import type { Cache, ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { AnswerRun } from './answerRun.ts';
import { waitForDecision } from './waitForDecision.ts';

export interface PendingApprovalsParts {
  readonly approvals: Pick<Approvals, 'decide' | 'stateOf' | 'withdraw'>;
  readonly cache: Cache;
  readonly changes: Pick<ChangeFeed, 'publish'>;
  readonly clock: Clock;
}

export type ApprovalOutcome = 'approved' | 'denied' | 'expired';

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
