import type { Transaction } from './database.ts';
import type { Table } from './table.ts';

/** Replaces a record if it still has version `seen`. */
export function replaceIfVersion<R extends { id: string; tenant: string; version: number }>(
  tx: Transaction,
  table: Table<R>,
  record: R,
  expectedVersion: number,
): 'replaced' | 'version_conflict' | 'missing' {
  const { id, tenant } = record;
  if (table.update(tx, record, 'id = ? AND tenant = ? AND version = ?', id, tenant, expectedVersion) > 0)
    return 'replaced';
  const existing = tx.get(`SELECT 1 FROM ${table.name} WHERE id = ? AND tenant = ?`, id, tenant);
  return existing === undefined ? 'missing' : 'version_conflict';
}
