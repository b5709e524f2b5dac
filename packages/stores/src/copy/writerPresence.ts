import { WRITER_TTL_MS, type SystemStore } from '@behalf/gateway/ports';
import { MAINTENANCE_MS } from './maintenanceHold.ts';

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

export function createWriterPresence({
  system,
  writer,
  createError: refuse,
}: WriterPresenceParts): WriterPresence {
  return {
    async acquireOrExtend() {
      if ((await system.heartbeat(writer, WRITER_TTL_MS)) === 'announced') return;
      throw refuse(
        `A copy has the store (a killed one is forgotten after ${MAINTENANCE_MS / 1000} s). Run this again when it is over.`,
      );
    },
    release: () => system.removeWriter(writer).catch(() => undefined),
  };
}
