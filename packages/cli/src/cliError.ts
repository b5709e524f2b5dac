/** Exit codes for scripts. */
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
  /** An error code of the gateway or of the CLI. */
  readonly code?: string | undefined;
  readonly action?: string | undefined;
  /** The individual problems. */
  readonly problems?: readonly string[] | undefined;
}

/** Ends a command. The message is safe to print. */
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

/** The command line is invalid. */
export function createUsageError(message: string, problems?: readonly string[]): CliError {
  return new CliError('usage', message, { code: 'usage', problems });
}

/** The user pressed Ctrl-C. */
export function createInterruptedError(): CliError {
  return new CliError('interrupted', 'Interrupted.', { code: 'interrupted' });
}
