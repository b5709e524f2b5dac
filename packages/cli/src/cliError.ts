/** How a command ended, for whoever runs it from a script. */
export const exitCodes = {
  ok: [0, 'Success.'],
  failed: [1, 'The operation failed.'],
  usage: [2, 'The command line is not valid, or an input is missing or not valid. Nothing was done.'],
  unreachable: [3, 'The gateway did not respond.'],
  forbidden: [4, 'The gateway rejected your key, or you do not have permission.'],
  signIn: [5, 'You must first sign in at the server.'],
  absent: [6, 'The server, tool or credential does not exist, or you have no access to it.'],
  later: [7, 'Temporary failure: a limit was reached or a service is unavailable. Try again later.'],
  interrupted: [130, 'Interrupted (Ctrl-C).'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

export type ExitStatus = keyof typeof exitCodes;

export function getExitCode(exitStatus: ExitStatus): number {
  return exitCodes[exitStatus][0];
}

interface CliErrorDetail {
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
