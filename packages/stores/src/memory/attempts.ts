import type { AttemptCounter } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';

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
