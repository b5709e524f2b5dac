/** Control characters that a terminal interprets, and characters that change the text direction. */
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const UNSAFE_IN_JSON = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Makes text from a server safe for a terminal. */
export function stripControls(text: string): string {
  return text.replace(CONTROLS, '');
}

/** The same on one line. */
export function toCleanLine(text: string): string {
  return stripControls(text).replace(/\s+/g, ' ').trim();
}

/** Formats JSON, with control characters escaped. */
export function formatJson(value: unknown): string {
  const escaped = JSON.stringify(value, null, 2).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `${escaped}\n`;
}

type Paint = (text: string) => string;

export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
}

/** Adds colors if the output is a terminal. */
export function createStyle(hasColors: boolean): Style {
  const paint =
    (startCode: number, endCode: number): Paint =>
    (text) =>
      hasColors ? `\u001b[${startCode}m${text}\u001b[${endCode}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    caution: paint(33, 39),
  };
}

/** Formats a table. Cells may contain text from servers and are made safe. */
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
