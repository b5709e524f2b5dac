import { LightCancellation, systemRandom } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { aPrincipal, createFakeClock } from '@behalf/testkit';
import { describe, expect, test } from '@jest/globals';
import { AnswerStopped, createAnswerRuns } from './answerRuns.ts';
import { createPendingApprovals } from './pendingDecisions.ts';

describe('a word about a call', () => {
  test('that comes as the answer is stopped is none, and taken back', async () => {
    const clock = createFakeClock();
    const { leases, changes, ...store } = openMemoryStore({ clock, random: systemRandom });
    const cache = store.cache('chats');
    const answers = createAnswerRuns({ leases, cache, changes, clock });
    const running = answers.start(aPrincipal(), new LightCancellation());
    await running.lockConversation('c');
    const withdrawn: string[] = [];
    const approvals = {
      decide: async () => undefined,
      async stateOf() {
        running.stop('requested');
        return 'approved' as const;
      },
      withdraw: async (_owner: unknown, id: string) => void withdrawn.push(id),
    };
    const decisions = createPendingApprovals({ approvals, cache, changes, clock });
    const approval = { id: 'a', expiresAt: clock.now() + 60_000 };
    const waiting = decisions.wait(running, '1', approval, async () => undefined);
    await expect(waiting).rejects.toBeInstanceOf(AnswerStopped);
    expect(withdrawn).toEqual(['a']);
  });
});
