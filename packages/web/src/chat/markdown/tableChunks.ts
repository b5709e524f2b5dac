export interface TableChunks {
  /** The names of the columns, and the line below them. */
  readonly head: string;
  /** Its rows, some at a time. */
  readonly bodies: readonly string[];
}

const LARGE = 2_000;
const LARGEST_BODY = 2_000;
/** As tables are mostly written: what begins otherwise may be another block, which would be lost among rows. */
const row = /^ {0,3}\|/;
const underline = /^ {0,3}\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*$/;

/** A large table in pieces that are read one by one; undefined for what is small, or no table. */
export function tableChunks(source: string): TableChunks | undefined {
  if (source.length < LARGE) return undefined;
  const lines = source.trimEnd().split('\n');
  const [names = '', line = '', ...rows] = lines;
  if (!underline.test(line.replace(/\r$/, '')) || !lines.every((one) => row.test(one))) return undefined;
  const bodies: string[] = [];
  let body = '';
  for (const next of rows) {
    if (body.length > LARGEST_BODY) {
      bodies.push(body);
      body = '';
    }
    body += `${next}\n`;
  }
  if (body !== '') bodies.push(body);
  return { head: `${names}\n${line}\n`, bodies };
}
