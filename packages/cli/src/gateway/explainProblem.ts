import { errorKinds, type ErrorCode, type Problem } from '@behalf/contracts';
import { CliError } from '../cliError.ts';
import type { ExitStatus } from '../exitCodes.ts';

/** The gateway said no. */
export class GatewayProblem extends CliError {
  readonly problem: Problem;
  constructor(problem: Problem, { exitStatus, action, problems }: ProblemExplanation) {
    super(exitStatus, problem.detail, { code: problem.code, action, problems });
    this.problem = problem;
  }
}

interface ProblemExplanation {
  readonly exitStatus: ExitStatus;
  readonly action: string | undefined;
  readonly problems: readonly string[] | undefined;
}

export function explainProblem({ code, detail, errors }: Problem): ProblemExplanation {
  const { action } = errorKinds[code];
  return {
    exitStatus: getExitStatus(code),
    action: detail.includes(action) ? undefined : action,
    problems: errors?.map(({ path, message, suggestion }) =>
      [[path, message].filter((part) => part !== '').join(' '), suggestion].filter(Boolean).join('; '),
    ),
  };
}

/** 401 and 403 of the gateway are about the caller; what a server wants of its users is told by code. */
export function getExitStatus(code: ErrorCode): ExitStatus {
  if (code === 'MCP_AUTHORIZATION_REQUIRED' || code === 'MCP_AUTHORIZATION_UNAVAILABLE') return 'signIn';
  switch (errorKinds[code].status) {
    case 401:
    case 403:
      return 'forbidden';
    case 404:
      return 'absent';
    case 429:
    case 503:
      return 'later';
    default:
      return 'failed';
  }
}
