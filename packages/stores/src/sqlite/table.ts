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
  force(tx: Transaction, record: R): void;
  /** Writes the given fields where the condition holds; how many rows. */
  update(tx: Transaction, fields: Partial<R>, where: string, ...params: Param[]): number;
  one(row: Row | undefined): R | null;
  all(rows: readonly Row[]): R[];
}

export function createTable<N extends CollectionName>(name: N): Table<Collections[N]> {
  type R = Collections[N];
  const names = columns[name];
  const { key } = collectionShapes[name];
  const json: readonly string[] = jsonColumns[name] ?? [];
  const booleans: readonly string[] = booleanColumns[name] ?? [];
  const list = `(${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
  const replaced = names.filter((column) => column !== key).map((column) => `${column} = excluded.${column}`);
  const upsert = `INSERT INTO ${name} ${list} ON CONFLICT (${key}) DO UPDATE SET ${replaced.join(', ')}`;

  const encode = (record: Partial<R>, column: keyof R & string): Param => {
    if (json.includes(column)) return JSON.stringify(record[column]);
    return booleans.includes(column) ? Number(record[column]) : (record[column] as Param);
  };
  const decode = (row: Row): R => {
    for (const column of json) row[column] = JSON.parse(row[column] as string) as unknown;
    for (const column of booleans) row[column] = row[column] === 1;
    return row as unknown as R;
  };
  const write = (sql: string) => (tx: Transaction, record: R) =>
    void tx.run(sql, ...names.map((column) => encode(record, column)));

  return {
    name,
    key,
    insert: write(`INSERT INTO ${name} ${list}`),
    put: write(upsert),
    force: write(`INSERT OR REPLACE INTO ${name} ${list}`),
    update(tx, fields, where, ...params) {
      const given = names.filter((column) => fields[column] !== undefined);
      const set = given.map((column) => `${column} = ?`).join(', ');
      const values = given.map((column) => encode(fields, column));
      return tx.run(`UPDATE ${name} SET ${set} WHERE ${where}`, ...values, ...params);
    },
    one: (row) => (row === undefined ? null : decode(row)),
    all: (rows) => rows.map(decode),
  };
}
