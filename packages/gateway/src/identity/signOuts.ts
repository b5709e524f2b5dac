import type { Clock } from '@behalf/kernel';
import type { ChangeFeed, UserStore } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';

export interface SignOutParts {
  readonly users: Pick<UserStore, 'listSignedOutSince'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  /** Closes and forgets what this process holds for them. */
  readonly onSignedOut: (principal: string) => void;
}

/** How far the clocks of two replicas may be apart. */
const OVERLAP_MS = 60_000;
const SIGN_OUT_RETRY_MS = 1_000;

/**
 * Whoever was signed out anywhere is signed out here. A notice may not say who it was: the store does, and one question
 * answers for everybody who was signed out since the last one.
 */
export function subscribeToSignOuts({ users, changes, clock, onSignedOut }: SignOutParts): { stop(): void } {
  /** What was acted upon, so that the overlap does not end connections that were opened after it. */
  const handled = new Map<string, number>();
  let checkedAt = clock.now();
  let isPending = false;
  let isChecking = false;
  let isStopped = false;
  let cancel: () => void = () => undefined;

  async function checkStore(): Promise<void> {
    const startedAt = clock.now();
    // Since the last answer, however long ago that was.
    const since = checkedAt - OVERLAP_MS;
    const signedOut = await users.listSignedOutSince(since);
    checkedAt = startedAt;
    for (const [key, at] of handled) if (at < since) handled.delete(key);
    for (const { id, tenant, signedOutAt } of signedOut) {
      const key = principalKey({ tenant, userId: id });
      if (isStopped || signedOutAt === null || (handled.get(key) ?? -Infinity) >= signedOutAt) continue;
      handled.set(key, signedOutAt);
      onSignedOut(key);
    }
  }

  /** One question at a time; a notice meanwhile asks for another. */
  async function checkAll(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    try {
      while (isPending && !isStopped) {
        isPending = false;
        await checkStore();
      }
    } catch {
      isPending = true;
      cancel();
      if (!isStopped) cancel = clock.timer(SIGN_OUT_RETRY_MS, () => void checkAll());
    } finally {
      isChecking = false;
    }
  }

  const unsubscribe = changes.subscribe(({ topic }) => {
    if (topic !== 'users') return;
    isPending = true;
    void checkAll();
  });
  return {
    stop() {
      isStopped = true;
      cancel();
      unsubscribe();
    },
  };
}
