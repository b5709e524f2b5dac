export interface QuotaLimits {
  readonly maxPerUser: number;
  readonly maxTotal: number;
}

export type UserQuota = ReturnType<typeof createUserQuota>;

/** Counts what users hold in the memory of this replica, for example streams or bytes, and compares it with limits. */
export function createUserQuota({ maxPerUser, maxTotal }: QuotaLimits) {
  const usedByUser = new Map<string, number>();
  let total = 0;
  const used = (user: string): number => usedByUser.get(user) ?? 0;
  return {
    used,
    get total() {
      return total;
    },
    /** The limit that `amount` more would exceed, if any. */
    exceeded(user: string, amount = 1): 'user' | 'total' | undefined {
      if (used(user) + amount > maxPerUser) return 'user';
      return total + amount > maxTotal ? 'total' : undefined;
    },
    /** Adds to the count of a user. A negative amount releases what was added before. */
    add(user: string, amount = 1): void {
      total += amount;
      const next = used(user) + amount;
      if (next > 0) usedByUser.set(user, next);
      else usedByUser.delete(user);
    },
  };
}
