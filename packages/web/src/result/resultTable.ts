import { isRecord } from './json.ts';

type Scalar = string | number | boolean | null;

/** A table. `name` is the member that contained the rows, if there was only one. */
export interface ResultTable {
  readonly name: string | undefined;
  readonly columns: readonly string[];
  /** Undefined if the row has no such cell. */
  readonly rows: readonly (readonly (Scalar | undefined)[])[];
  /** The table lists the members of an object. Its columns have no names. */
  readonly isKeyValue: boolean;
}

/** Values with more columns are shown as a tree. */
const MAX_COLUMNS = 24;

/** Converts an array of flat objects, or an object of scalar values; otherwise undefined. */
export function toResultTable(value: unknown): ResultTable | undefined {
  if (Array.isArray(value)) return tableOfRows(value, undefined);
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value);
  const [first] = entries;
  if (!first) return undefined;
  if (entries.length === 1 && Array.isArray(first[1])) return tableOfRows(first[1], first[0]);
  if (!entries.every(([, cell]) => isScalar(cell))) return undefined;
  return { name: undefined, columns: [], rows: entries as [string, Scalar][], isKeyValue: true };
}

function tableOfRows(items: readonly unknown[], name: string | undefined): ResultTable | undefined {
  const columns = new Map<string, number>();
  for (const item of items) {
    if (!isRecord(item)) return undefined;
    for (const [key, cell] of Object.entries(item)) {
      if (!isScalar(cell)) return undefined;
      if (!columns.has(key)) columns.set(key, columns.size);
    }
    if (columns.size > MAX_COLUMNS) return undefined;
  }
  if (columns.size === 0) return undefined;
  const names = [...columns.keys()];
  const rows = (items as Record<string, Scalar>[]).map((item) =>
    names.map((key) => (Object.hasOwn(item, key) ? item[key] : undefined)),
  );
  return { name, columns: names, rows, isKeyValue: false };
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

/** The rows that determine the column widths. */
const SAMPLE_ROWS = 100;
const MIN_COLUMN_LENGTH = 4;
/** Columns with longer texts share the remaining width and wrap. */
const MAX_FIXED_LENGTH = 20;
const MAX_COLUMN_LENGTH = 60;
/** The horizontal padding of a cell in the style sheet. */
const PADDING_REM = 1.5;

/** Column widths for all rows, because each row has its own layout. Undefined for key-value tables. */
export function columnWidths({
  columns,
  rows,
  isKeyValue,
}: Pick<ResultTable, 'columns' | 'rows' | 'isKeyValue'>): {
  readonly template?: string;
  readonly minWidth?: string;
} {
  if (isKeyValue) return {};
  const sample = rows.slice(0, SAMPLE_ROWS);
  const lengths = columns.map((name, column) =>
    sample.reduce(
      (longest, row) => Math.max(longest, cellLength(row[column])),
      Math.max(name.length, MIN_COLUMN_LENGTH),
    ),
  );
  const fixedLengths = lengths.map((length) => Math.min(length + 1, MAX_FIXED_LENGTH));
  return {
    template: fixedLengths
      .map(
        (width, column) =>
          `minmax(calc(${width}ch + ${PADDING_REM}rem), ${Math.min(lengths[column] ?? 0, MAX_COLUMN_LENGTH)}fr)`,
      )
      .join(' '),
    minWidth: `calc(${fixedLengths.reduce((sum, width) => sum + width, 0)}ch + ${fixedLengths.length * PADDING_REM}rem)`,
  };
}

function cellLength(cell: Scalar | undefined): number {
  return cell === undefined ? 0 : String(cell).length;
}
