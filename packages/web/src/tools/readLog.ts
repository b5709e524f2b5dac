import type { ToolLog } from '../api/tools.ts';
import type { RunLog } from './run.ts';

const LONGEST = 2_000;

/** A message of a server as one text. What it logs is data of any shape. */
export function readLog({ level, logger, data }: ToolLog): RunLog {
  const said = typeof data === 'string' ? data : asJson(data);
  const text = typeof logger === 'string' && logger !== '' ? `${logger}: ${said}` : said;
  return {
    level: typeof level === 'string' ? level : '',
    text: text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text,
  };
}

function asJson(data: unknown): string {
  try {
    return data === undefined ? '' : JSON.stringify(data);
  } catch {
    // Nested too deep to be written.
    return '';
  }
}
