import { toCleanLine } from './stripControls.ts';
import type { Style } from './style.ts';

/** Rows below their headings. Cells are other people's words: each is made one harmless line. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  const cells = rows.map((row) => row.map(toCleanLine));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [style.dim(line(headings)), ...cells.map(line)].map((text) => `${text}\n`).join('');
}
