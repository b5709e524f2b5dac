import type { AttemptCounter } from '@behalf/gateway/ports';
import type { Clock, LeasePurpose, Leases, Random } from '@behalf/kernel';

export function createMemoryLeases({ clock, random }: { clock: Clock; random: Random }): Leases {
  const leases = new Map<string, { owner: string; purpose: LeasePurpose; expiresAt: number }>();

  const findActive = (key: string) => {
    const lease = leases.get(key);
    return lease && lease.expiresAt > clock.now() ? lease : null;
  };

  return {
    async acquire(key, purpose, ttlMs) {
      if (findActive(key)) return null;
      const owner = random.id();
      leases.set(key, { owner, purpose, expiresAt: clock.now() + ttlMs });
      return {
        key,
        owner,
        purpose,
        async extend(ms) {
          const lease = findActive(key);
          if (lease?.owner !== owner) return false;
          lease.expiresAt = clock.now() + ms;
          return true;
        },
        async release() {
          if (findActive(key)?.owner !== owner) return false;
          return leases.delete(key);
        },
      };
    },
    async findHolder(key) {
      const lease = findActive(key);
      return lease && { owner: lease.owner, purpose: lease.purpose };
    },
  };
}

export function createMemoryAttempts(clock: Clock): AttemptCounter {
  const windows = new Map<string, { count: number; resetAt: number }>();

  return {
    async hit(key, windowMs) {
      const now = clock.now();
      for (const [other, window] of windows) if (window.resetAt <= now) windows.delete(other);
      const window = windows.get(key) ?? { count: 0, resetAt: now + windowMs };
      window.count += 1;
      windows.set(key, window);
      return { ...window };
    },
    async clear(key) {
      windows.delete(key);
    },
  };
}
