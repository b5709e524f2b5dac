import { UpstreamError } from '../upstreamError.ts';

/** Of one user; or of one server that everybody shares: one in use, one that is waited out, and some that are ending. */
export const MAX_CHILDREN_PER_OWNER = 4;
export const MAX_CHILDREN_TOTAL = 64;

export interface StdioLimits {
  /**
   * Takes a place for one child of this user; without a user, for one of this server that everybody shares. Throws
   * `too_many` when there is none. Returns how to give it back, once.
   */
  acquire(owner: string | undefined, server: string): () => void;
}

/**
 * How many child processes may run at a time: a user who opens many servers must not take the memory of all others, nor
 * one who has a shared server replaced over and over. A place is held from the start of a process to its exit, so one
 * that does not want to end still counts.
 */
export function createStdioLimits({
  maxPerOwner = MAX_CHILDREN_PER_OWNER,
  maxTotal = MAX_CHILDREN_TOTAL,
}: {
  readonly maxPerOwner?: number;
  readonly maxTotal?: number;
} = {}): StdioLimits {
  let runningCount = 0;
  const byOwner = new Map<string, number>();

  return {
    acquire(owner, server) {
      const key = owner === undefined ? `server ${server}` : `user ${owner}`;
      const ownerCount = byOwner.get(key) ?? 0;
      if (runningCount >= maxTotal || ownerCount >= maxPerOwner) throw new UpstreamError('too_many');
      runningCount += 1;
      byOwner.set(key, ownerCount + 1);
      let isHeld = true;
      return () => {
        if (!isHeld) return;
        isHeld = false;
        runningCount -= 1;
        const remaining = (byOwner.get(key) ?? 1) - 1;
        if (remaining > 0) byOwner.set(key, remaining);
        else byOwner.delete(key);
      };
    },
  };
}
