import type { PendingWriteStore } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { ORPHAN_MS } from './orphanAge.ts';

/** They go with the process. */
export function createOrphanMap(clock: Clock): PendingWriteStore {
  const orphans = new Map<string, { sealed: string; until: number }>();
  return {
    async put(id, sealed) {
      for (const [other, { until }] of [...orphans]) if (until <= clock.now()) orphans.delete(other);
      orphans.set(id, { sealed, until: clock.now() + ORPHAN_MS });
    },
    async find(id) {
      const orphan = orphans.get(id);
      return orphan && orphan.until > clock.now() ? orphan.sealed : null;
    },
    async remove(id, sealed) {
      if (orphans.get(id)?.sealed === sealed) orphans.delete(id);
    },
  };
}
