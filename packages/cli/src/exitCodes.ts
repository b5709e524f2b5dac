/** How a command ended, for whoever runs it from a script. */
export const exitCodes = {
  ok: [0, 'It worked.'],
  failed: [1, 'It was tried and did not work.'],
  usage: [2, 'The command was not understood, or an input is missing or wrong. Nothing was done.'],
  unreachable: [3, 'The gateway did not answer.'],
  forbidden: [4, 'The gateway does not know you, or does not let you do this.'],
  signIn: [5, 'You have to sign in at the server first.'],
  absent: [6, 'There is no such server, tool or credential for you.'],
  later: [7, 'Not now: a limit was reached or something is away. Try again later.'],
  interrupted: [130, 'You stopped it (Ctrl-C).'],
} as const satisfies Record<string, readonly [code: number, meaning: string]>;

export type Ending = keyof typeof exitCodes;

export function exitCode(ending: Ending): number {
  return exitCodes[ending][0];
}
