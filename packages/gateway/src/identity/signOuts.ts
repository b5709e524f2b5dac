import type { Clock } from '@behalf/kernel';
import type { ChangeFeed, UserStore } from '../ports/index.ts';
import { principalKey } from '../principal/principal.ts';

export interface SignOutParts {
  readonly users: Pick<UserStore, 'signedOutSince'>;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  /** Closes and forgets what this process holds for them. */
  readonly onSignedOut: (principal: string) => void;
}

/** How far the clocks of two replicas may be apart. */
const OVERLAP_MS = 60_000;
const RETRY_MS = 1_000;

/**
 * Whoever was signed out anywhere is signed out here. A notice may not say who it was: the store does, and one question
 * answers for everybody who was signed out since the last one.
 */
export function followSignOuts({ users, changes, clock, onSignedOut }: SignOutParts): { stop(): void } {
  /** What was acted upon, so that the overlap does not end connections that were opened after it. */
  const done = new Map<string, number>();
  let answeredAt = clock.now();
  let wanted = false;
  let asking = false;
  let stopped = false;
  let cancel: () => void = () => undefined;

  async function ask(): Promise<void> {
    const askedAt = clock.now();
    // Since the last answer, however long ago that was.
    const since = answeredAt - OVERLAP_MS;
    const signedOut = await users.signedOutSince(since);
    answeredAt = askedAt;
    for (const [key, at] of done) if (at < since) done.delete(key);
    for (const { id, tenant, signedOutAt } of signedOut) {
      const key = principalKey({ tenant, userId: id });
      if (stopped || signedOutAt === null || (done.get(key) ?? -Infinity) >= signedOutAt) continue;
      done.set(key, signedOutAt);
      onSignedOut(key);
    }
  }

  /** One question at a time; a notice meanwhile asks for another. */
  async function askAll(): Promise<void> {
    if (asking) return;
    asking = true;
    try {
      while (wanted && !stopped) {
        wanted = false;
        await ask();
      }
    } catch {
      wanted = true;
      cancel();
      if (!stopped) cancel = clock.timer(RETRY_MS, () => void askAll());
    } finally {
      asking = false;
    }
  }

  const leave = changes.subscribe(({ topic }) => {
    if (topic !== 'users') return;
    wanted = true;
    void askAll();
  });
  return {
    stop() {
      stopped = true;
      cancel();
      leave();
    },
  };
}
