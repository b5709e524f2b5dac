import type { Ending } from './exitCodes.ts';

export interface CliErrorDetail {
  /** A code of the gateway, or a word of ours. */
  readonly code?: string | undefined;
  readonly action?: string | undefined;
  /** What is wrong, one by one. */
  readonly problems?: readonly string[] | undefined;
}

/** Ends a command; what it says is fit to be printed. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly ending: Ending;
  readonly detail: CliErrorDetail;
  constructor(ending: Ending, message: string, detail: CliErrorDetail = {}) {
    super(message);
    this.ending = ending;
    this.detail = detail;
  }
}

/** The command line itself is wrong. */
export function usageError(message: string, problems?: readonly string[]): CliError {
  return new CliError('usage', message, { code: 'usage', problems });
}

/** Ctrl-C. */
export function stopped(): CliError {
  return new CliError('interrupted', 'Stopped.', { code: 'interrupted' });
}
