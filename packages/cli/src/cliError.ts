import type { ExitStatus } from './exitCodes.ts';

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
  readonly exitStatus: ExitStatus;
  readonly detail: CliErrorDetail;
  constructor(exitStatus: ExitStatus, message: string, detail: CliErrorDetail = {}) {
    super(message);
    this.exitStatus = exitStatus;
    this.detail = detail;
  }
}

/** The command line itself is wrong. */
export function createUsageError(message: string, problems?: readonly string[]): CliError {
  return new CliError('usage', message, { code: 'usage', problems });
}

/** Ctrl-C. */
export function createInterruptedError(): CliError {
  return new CliError('interrupted', 'Interrupted.', { code: 'interrupted' });
}
