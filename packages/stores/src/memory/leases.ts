import type { Clock, LeasePurpose, Leases, Random } from '@behalf/kernel';

export function createMemoryLeases({ clock, random }: { clock: Clock; random: Random }): Leases {
  const held = new Map<string, { owner: string; purpose: LeasePurpose; until: number }>();

  const current = (key: string) => {
    const lease = held.get(key);
    return lease && lease.until > clock.now() ? lease : null;
  };

  return {
    async acquire(key, purpose, ttlMs) {
      if (current(key)) return null;
      const owner = random.id();
      held.set(key, { owner, purpose, until: clock.now() + ttlMs });
      return {
        key,
        owner,
        purpose,
        async extend(ms) {
          const lease = current(key);
          if (lease?.owner !== owner) return false;
          lease.until = clock.now() + ms;
          return true;
        },
        async release() {
          if (current(key)?.owner !== owner) return false;
          return held.delete(key);
        },
      };
    },
    async holder(key) {
      const lease = current(key);
      return lease && { owner: lease.owner, purpose: lease.purpose };
    },
  };
}
