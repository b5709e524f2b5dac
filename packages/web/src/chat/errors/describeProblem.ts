import { explainErrorCode, withoutTitle } from '../../api/explain.ts';
import { chatAdvice } from './chatAdvice.ts';

/** What is wrong beyond the title, and what to do about it. Either may be empty. */
export interface ProblemText {
  readonly text: string;
  readonly advice: string;
}

/** The gateway's words without what is said twice: its detail often begins with the title and ends with the advice. */
export function describeProblem(problem: {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
}): ProblemText {
  const { code, title, detail } = problem;
  const defaultAdvice = explainErrorCode(code)?.text ?? '';
  const detailText = withoutTitle(detail, title);
  const text =
    defaultAdvice !== '' && detailText.endsWith(defaultAdvice)
      ? detailText.slice(0, -defaultAdvice.length).trim()
      : detailText;
  return { text, advice: chatAdvice(code) ?? defaultAdvice };
}
