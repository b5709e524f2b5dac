import type { Scalar, ResultTable } from './toResultTable.ts';

/** A look at these tells how wide the others are. */
const SAMPLE_ROWS = 100;
const MIN_COLUMN_LENGTH = 4;
/** Longer texts share the room that is left, and wrap. */
const MAX_FIXED_LENGTH = 20;
const MAX_COLUMN_LENGTH = 60;
/** What the style sheet leaves free at both sides of a cell. */
const PADDING_REM = 1.5;

/** How wide each column is, for all rows alike: each row is laid out by itself. Undefined for names and values. */
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
