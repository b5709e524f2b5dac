import { type PrimaryStore, type SystemStore, WRITER_TTL_MS } from '@behalf/gateway/ports';

/** Maintenance of one or several stores, kept for as long as the work on them goes on. */
export interface MaintenanceLease {
  /** Takes the stores, and prolongs with every later call; throws when one is in use or was lost meanwhile. */
  acquireOrExtend(): Promise<void>;
  /** Never throws: a store that cannot be told is free after the TTL. */
  release(): Promise<void>;
}

interface MaintenanceLeaseParts {
  /** With what the messages call each. */
  stores: readonly { store: PrimaryStore; storeLabel: string }[];
  owner: string;
  createError: (message: string) => Error;
}

/** Prolonged with every page: work that was killed leaves the stores free after this. */
const MAINTENANCE_TTL_MS = 30_000;

export function createMaintenanceLease({
  stores,
  owner,
  createError,
}: MaintenanceLeaseParts): MaintenanceLease {
  let isAcquired = false;
  return {
    async acquireOrExtend() {
      for (const { store, storeLabel } of stores) {
        const outcome = await store.system.beginMaintenance(owner, MAINTENANCE_TTL_MS);
        if (outcome === 'refused') {
          throw createError(
            `The ${storeLabel} is in use. Stop every gateway and every command that uses it (a terminated process is removed after ${WRITER_TTL_MS / 1000} s), then run this again.`,
          );
        }
        // Nobody else knows the owner, so what is held before we took it is what we took a moment ago.
        if (!isAcquired && outcome === 'prolonged')
          throw createError('Source and target are the same store.');
        if (isAcquired && outcome === 'begun') {
          throw createError(
            `The maintenance lease on the ${storeLabel} expired, and a gateway may have written to the store since. Run the command again.`,
          );
        }
      }
      isAcquired = true;
    },
    async release() {
      // Each for itself: a store that is away must neither keep the other held nor hide what went wrong before.
      await Promise.allSettled(stores.map(({ store }) => store.system.endMaintenance(owner)));
    },
  };
}

/** Of work that goes on beside the gateways: it counts as one of them, so that no copy begins meanwhile. */
interface WriterPresence {
  /** The first call says that we are here, every later one that we still are; throws when a copy has the store. */
  acquireOrExtend(): Promise<void>;
  /** Never throws: who cannot be told forgets us after the TTL. */
  release(): Promise<void>;
}

interface WriterPresenceParts {
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
