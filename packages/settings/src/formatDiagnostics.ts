import type { Diagnostic } from '@behalf/contracts';

/** The one message for a terminal: a line per diagnostic with place, path, reason and what to do. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], filename: string): string {
  return diagnostics
    .map(({ path, message, suggestion, line }) => {
      const location = line === undefined ? filename : `${filename}:${line}`;
      const reason = suggestion === undefined ? message : `${message}; ${suggestion}`;
      return [location, path, reason].filter((part) => part !== '').join('  ');
    })
    .join('\n');
}
