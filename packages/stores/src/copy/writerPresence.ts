import { WRITER_TTL_MS, type SystemStore } from '@behalf/gateway/ports';
import { MAINTENANCE_TTL_MS } from './maintenanceLease.ts';

/** Of work that goes on beside the gateways: it counts as one of them, so that no copy begins meanwhile. */
export interface WriterPresence {
  /** The first call says that we are here, every later one that we still are; throws when a copy has the store. */
  acquireOrExtend(): Promise<void>;
  /** Never throws: who cannot be told forgets us after the TTL. */
  release(): Promise<void>;
}

export interface WriterPresenceParts {
  system: SystemStore;
  writer: string;
  createError: (message: string) => Error;
}

export function createWriterPresence({ system, writer, createError }: WriterPresenceParts): WriterPresence {
  return {
    async acquireOrExtend() {
      if ((await system.heartbeat(writer, WRITER_TTL_MS)) === 'announced') return;
      throw createError(
        `The store is being copied (an interrupted copy expires after ${MAINTENANCE_TTL_MS / 1000} s). Run this again when the copy is complete.`,
      );
    },
    release: () => system.removeWriter(writer).catch(() => undefined),
  };
}
