import type { ChatProblem, Problem } from '@behalf/contracts';

/** Why an answer could not be finished, as its reader is told. */
export function chatProblem(
  { problemOf }: { readonly problemOf: (error: unknown) => { problem: Problem } },
  error: unknown,
): ChatProblem {
  const { code, title, detail } = problemOf(error).problem;
  return { code, title, detail };
}
