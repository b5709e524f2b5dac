import { collectionShapes, type CollectionName, type Collections } from '@behalf/gateway/ports';
import { booleanColumns, columns, jsonColumns } from './columns.ts';
import type { Param, Row, Transaction } from './database.ts';

/** A moved table: the only place that turns records into rows and rows into records. */
export interface Table<R> {
  readonly name: string;
  readonly key: keyof R & string;
  insert(tx: Transaction, record: R): void;
  /** Inserts, or replaces the one of the same key. A unique index that another row stands in still refuses. */
  put(tx: Transaction, record: R): void;
  /** The same, and whatever other row stands in the way goes: for a move, where the whole is what counts. */
  replaceConflicting(tx: Transaction, record: R): void;
  /** Writes the given fields where the condition holds; how many rows. */
  update(tx: Transaction, fields: Partial<R>, where: string, ...params: Param[]): number;
  toRecord(row: Row | undefined): R | null;
  toRecords(rows: readonly Row[]): R[];
}

export function createTable<N extends CollectionName>(name: N): Table<Collections[N]> {
  type R = Collections[N];
  const columnNames = columns[name];
  const { key } = collectionShapes[name];
  const jsonNames: readonly string[] = jsonColumns[name] ?? [];
  const booleanNames: readonly string[] = booleanColumns[name] ?? [];
  const valueList = `(${columnNames.join(', ')}) VALUES (${columnNames.map(() => '?').join(', ')})`;
  const assignments = columnNames
    .filter((column) => column !== key)
    .map((column) => `${column} = excluded.${column}`);
  const upsert = `INSERT INTO ${name} ${valueList} ON CONFLICT (${key}) DO UPDATE SET ${assignments.join(', ')}`;

  const encode = (record: Partial<R>, column: keyof R & string): Param => {
    if (jsonNames.includes(column)) return JSON.stringify(record[column]);
    return booleanNames.includes(column) ? Number(record[column]) : (record[column] as Param);
  };
  const decode = (row: Row): R => {
    for (const column of jsonNames) row[column] = JSON.parse(row[column] as string) as unknown;
    for (const column of booleanNames) row[column] = row[column] === 1;
    return row as unknown as R;
  };
  const createWriter = (sql: string) => (tx: Transaction, record: R) =>
    void tx.run(sql, ...columnNames.map((column) => encode(record, column)));

  return {
    name,
    key,
    insert: createWriter(`INSERT INTO ${name} ${valueList}`),
    put: createWriter(upsert),
    replaceConflicting: createWriter(`INSERT OR REPLACE INTO ${name} ${valueList}`),
    update(tx, fields, where, ...params) {
      const changedColumns = columnNames.filter((column) => fields[column] !== undefined);
      const assignments = changedColumns.map((column) => `${column} = ?`).join(', ');
      const values = changedColumns.map((column) => encode(fields, column));
      return tx.run(`UPDATE ${name} SET ${assignments} WHERE ${where}`, ...values, ...params);
    },
    toRecord: (row) => (row === undefined ? null : decode(row)),
    toRecords: (rows) => rows.map(decode),
  };
}
