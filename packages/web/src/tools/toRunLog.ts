import type { ToolLog } from '../api/tools.ts';
import type { RunLog } from './run.ts';

const MAX_LOG_LENGTH = 2_000;

/** A message of a server as one text. What it logs is data of any shape. */
export function toRunLog({ level, logger, data }: ToolLog): RunLog {
  const content = typeof data === 'string' ? data : toJsonText(data);
  const text = typeof logger === 'string' && logger !== '' ? `${logger}: ${content}` : content;
  return {
    level: typeof level === 'string' ? level : '',
    text: text.length > MAX_LOG_LENGTH ? `${text.slice(0, MAX_LOG_LENGTH)}…` : text,
  };
}

function toJsonText(data: unknown): string {
  try {
    return data === undefined ? '' : JSON.stringify(data);
  } catch {
    // Nested too deep to be written.
    return '';
  }
}
