export type Path = readonly (string | number)[];

/** One thing wrong (or worth a warning) in a configuration value, before it is known on which line it stands. */
export interface Finding {
  path: Path;
  code: string;
  message: string;
  /** What to do, in words that can follow the message after a semicolon. */
  suggestion?: string;
}

/** `mcpServers.github.args[0]`; a name that would read as several steps is quoted. */
export function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z0-9_-]+$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

export function createFinding(path: Path, code: string, message: string, suggestion?: string): Finding {
  return suggestion === undefined ? { path, code, message } : { path, code, message, suggestion };
}
