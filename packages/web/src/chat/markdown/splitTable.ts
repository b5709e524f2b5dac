export interface TableChunks {
  /** The names of the columns, and the line below them. */
  readonly head: string;
  /** Its rows, some at a time. */
  readonly bodies: readonly string[];
}

const MIN_TABLE_LENGTH = 2_000;
const MAX_BODY_LENGTH = 2_000;
/** As tables are mostly written: what begins otherwise may be another block, which would be lost among rows. */
const rowPattern = /^ {0,3}\|/;
const delimiterPattern = /^ {0,3}\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;

/** A large table in pieces that are read one by one; undefined for what is small, or no table. */
export function splitTable(source: string): TableChunks | undefined {
  if (source.length < MIN_TABLE_LENGTH) return undefined;
  const lines = source.trimEnd().split('\n');
  const [header = '', delimiter = '', ...rows] = lines;
  if (!delimiterPattern.test(delimiter.replace(/\r$/, '')) || !lines.every((line) => rowPattern.test(line)))
    return undefined;
  const bodies: string[] = [];
  let body = '';
  for (const row of rows) {
    if (body.length > MAX_BODY_LENGTH) {
      bodies.push(body);
      body = '';
    }
    body += `${row}\n`;
  }
  if (body !== '') bodies.push(body);
  return { head: `${header}\n${delimiter}\n`, bodies };
}
