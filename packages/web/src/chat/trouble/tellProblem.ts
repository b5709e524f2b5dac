import { explainErrorCode, withoutTitle } from '../../api/explain.ts';
import { ownAdvice } from './ownAdvice.ts';

/** What is wrong beyond the title, and what to do about it. Either may be empty. */
export interface Told {
  readonly text: string;
  readonly advice: string;
}

/** The gateway's words without what is said twice: its detail often begins with the title and ends with the advice. */
export function tellProblem(problem: {
  readonly code: string;
  readonly title: string;
  readonly detail: string;
}): Told {
  const { code, title, detail } = problem;
  const action = explainErrorCode(code)?.text ?? '';
  const said = withoutTitle(detail, title);
  const text = action !== '' && said.endsWith(action) ? said.slice(0, -action.length).trim() : said;
  return { text, advice: ownAdvice(code) ?? action };
}
