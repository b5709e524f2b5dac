import type { PendingWriteStore } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { PENDING_WRITE_TTL_MS } from './pendingWriteTtl.ts';

/** They go with the process. */
export function createPendingWriteMap(clock: Clock): PendingWriteStore {
  const entries = new Map<string, { sealed: string; expiresAt: number }>();
  return {
    async put(id, sealed) {
      for (const [other, { expiresAt }] of [...entries]) if (expiresAt <= clock.now()) entries.delete(other);
      entries.set(id, { sealed, expiresAt: clock.now() + PENDING_WRITE_TTL_MS });
    },
    async find(id) {
      const entry = entries.get(id);
      return entry && entry.expiresAt > clock.now() ? entry.sealed : null;
    },
    async remove(id, sealed) {
      if (entries.get(id)?.sealed === sealed) entries.delete(id);
    },
  };
}
