import { UpstreamError } from '../upstreamError.ts';

/** Of one user; or of one server that everybody shares: one in use, one that is waited out, and some that are ending. */
export const CHILDREN_PER_OWNER = 4;
export const CHILDREN_IN_ALL = 64;

export interface StdioLimits {
  /**
   * Takes a place for one child of this user; without a user, for one of this server that everybody shares. Throws
   * `too_many` when there is none. Returns how to give it back, once.
   */
  take(owner: string | undefined, server: string): () => void;
}

/**
 * How many child processes may run at a time: a user who opens many servers must not take the memory of all others, nor
 * one who has a shared server replaced over and over. A place is held from the start of a process to its exit, so one
 * that does not want to end still counts.
 */
export function createStdioLimits({
  perOwner = CHILDREN_PER_OWNER,
  inAll = CHILDREN_IN_ALL,
}: {
  readonly perOwner?: number;
  readonly inAll?: number;
} = {}): StdioLimits {
  let running = 0;
  const byOwner = new Map<string, number>();

  return {
    take(owner, server) {
      const key = owner === undefined ? `server ${server}` : `user ${owner}`;
      const owned = byOwner.get(key) ?? 0;
      if (running >= inAll || owned >= perOwner) throw new UpstreamError('too_many');
      running += 1;
      byOwner.set(key, owned + 1);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        running -= 1;
        const rest = (byOwner.get(key) ?? 1) - 1;
        if (rest > 0) byOwner.set(key, rest);
        else byOwner.delete(key);
      };
    },
  };
}
