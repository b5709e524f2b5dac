import { type PrimaryStore, type SystemStore, WRITER_TTL_MS } from '@behalf/gateway/ports';

/** Maintenance lease on one or several stores, held while an operation runs on them. */
export interface MaintenanceLease {
  /**
   * The first call acquires the stores; later calls extend the lease. Throws if a store is in use or the lease
   * was lost.
   */
  acquireOrExtend(): Promise<void>;
  /** Never throws. If a store is unreachable, its lease ends with the TTL. */
  release(): Promise<void>;
}

interface MaintenanceLeaseParts {
  /** Labels for messages. */
  stores: readonly { store: PrimaryStore; storeLabel: string }[];
  owner: string;
  createError: (message: string) => Error;
}

/** Extended with every page. If the process is killed, the stores are free again after this time. */
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
        // The owner ID is unique to this run, so an extension in the first call means that both are one store.
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
      // Each store is released separately: an unreachable store must not keep the other one locked or hide the
      // first error.
      await Promise.allSettled(stores.map(({ store }) => store.system.endMaintenance(owner)));
    },
  };
}

/**
 * Registers an operation that runs beside gateways. It counts as a writer, so that no copy starts during it.
 */
interface WriterPresence {
  /** The first call registers, later calls renew the registration. Throws if a copy holds the store. */
  acquireOrExtend(): Promise<void>;
  /** Never throws. If the store is unreachable, the registration ends with the TTL. */
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
