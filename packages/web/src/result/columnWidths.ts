import type { Scalar, Table } from './readTable.ts';

/** A look at these tells how wide the others are. */
const ROWS_LOOKED_AT = 100;
const NARROWEST = 4;
/** Longer texts share the room that is left, and wrap. */
const WIDEST_SURE = 20;
const WIDEST = 60;
/** What the style sheet leaves free at both sides of a cell. */
const PADDING_REM = 1.5;

/** How wide each column is, for all rows alike: each row is laid out by itself. Undefined for names and values. */
export function columnWidths({ columns, rows, isPairs }: Pick<Table, 'columns' | 'rows' | 'isPairs'>): {
  readonly template?: string;
  readonly least?: string;
} {
  if (isPairs) return {};
  const looked = rows.slice(0, ROWS_LOOKED_AT);
  const lengths = columns.map((name, column) =>
    looked.reduce(
      (longest, row) => Math.max(longest, lengthOf(row[column])),
      Math.max(name.length, NARROWEST),
    ),
  );
  const sure = lengths.map((length) => Math.min(length + 1, WIDEST_SURE));
  return {
    template: sure
      .map(
        (width, column) =>
          `minmax(calc(${width}ch + ${PADDING_REM}rem), ${Math.min(lengths[column] ?? 0, WIDEST)}fr)`,
      )
      .join(' '),
    least: `calc(${sure.reduce((sum, width) => sum + width, 0)}ch + ${sure.length * PADDING_REM}rem)`,
  };
}

function lengthOf(cell: Scalar | undefined): number {
  return cell === undefined ? 0 : String(cell).length;
}
