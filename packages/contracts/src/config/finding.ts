export type Path = readonly (string | number)[];

/** A problem or warning of a configuration value, before its line is known. */
export interface Finding {
  path: Path;
  code: string;
  message: string;
  /** What to do, as the part of the sentence after the message and a semicolon. */
  suggestion?: string;
}

/** Formats a path, for example `mcpServers.github.args[0]`. A name with special characters is quoted. */
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
