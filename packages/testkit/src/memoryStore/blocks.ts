import type { OwnedRecord, OwnedStore, RunRecord, RunStore } from '@behalf/gateway/ports';
import { type Tables, compareBy, copyAll, copyOrNull, removeWhere } from './tables.ts';

/** Stores blocks or sets. */
export function createMemoryOwned<R extends OwnedRecord>(table: Map<string, R>): OwnedStore<R> {
  const find = (tenant: string, id: string) => {
    const record = table.get(id);
    return record?.tenant === tenant ? record : undefined;
  };

  return {
    find: async (tenant, id) => copyOrNull(find(tenant, id)),
    findMany: async (tenant, ids) =>
      copyAll(
        [...new Set(ids)].flatMap((id) => find(tenant, id) ?? []).sort(compareBy((record) => record.id)),
      ),
    async insert(record, maxPerOwner) {
      const { tenant, owner } = record;
      if (table.has(record.id)) throw new Error('A record with this id already exists');
      const ownedRecords = [...table.values()].filter(
        (other) => other.tenant === tenant && other.owner === owner,
      );
      if (ownedRecords.length >= maxPerOwner) return 'full';
      table.set(record.id, { ...record });
      return 'inserted';
    },
    async replace(record, expectedVersion) {
      const current = find(record.tenant, record.id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      table.set(record.id, { ...record });
      return 'replaced';
    },
    remove: async (tenant, id) => find(tenant, id) !== undefined && table.delete(id),
  };
}

export function createMemoryRuns({ runs }: Tables): RunStore {
  const find = (tenant: string, userId: string, id: string) => {
    const run = runs.get(id);
    return run?.tenant === tenant && run.userId === userId ? run : undefined;
  };
  const latestFirst = (tenant: string, userId: string) =>
    [...runs.values()]
      .filter((run) => run.tenant === tenant && run.userId === userId)
      .sort(
        compareBy<RunRecord>(
          (run) => run.createdAt,
          (run) => run.id,
        ),
      )
      .reverse();

  const headOf = ({ sealed: _sealed, ...head }: RunRecord) => head;

  return {
    find: async (tenant, userId, id) => copyOrNull(find(tenant, userId, id)),
    async findMetadata(tenant, userId, id) {
      const run = find(tenant, userId, id);
      return run ? headOf(run) : null;
    },
    list: async (tenant, userId, setId) =>
      latestFirst(tenant, userId)
        .filter((run) => run.setId === setId)
        .map(headOf),
    listRunning: async (tenant, userId) =>
      latestFirst(tenant, userId)
        .filter(({ state }) => state === 'running')
        .map(headOf),
    async insert(run, maxRunning) {
      if (runs.has(run.id)) throw new Error('A run with this id already exists');
      const running = latestFirst(run.tenant, run.userId).filter(({ state }) => state === 'running');
      if (running.length >= maxRunning) return 'full';
      runs.set(run.id, { ...run });
      return 'inserted';
    },
    async replace(run, expectedVersion) {
      const current = find(run.tenant, run.userId, run.id);
      if (!current) return 'missing';
      if (current.version !== expectedVersion) return 'version_conflict';
      runs.set(run.id, { ...run });
      return 'replaced';
    },
    async prune(tenant, userId, keepCount) {
      const over = latestFirst(tenant, userId)
        .filter(({ state }) => state !== 'running')
        .slice(keepCount);
      for (const { id } of over) runs.delete(id);
      return over.length;
    },
    removeExpired: async (now) => removeWhere(runs, (run) => run.expiresAt <= now),
  };
}
