import { explainErrorCode, withoutTitle } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';

/** Details beyond the title, and advice. Either can be empty. */
interface ProblemText {
  readonly text: string;
  readonly advice: string;
}

/** Removes repetitions from a problem: its detail often starts with the title and ends with the advice. */
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

/** Returns advice for chat users if the general advice of the error code addresses developers. */
function chatAdvice(code: string): string | undefined {
  const { errors } = strings;
  const { trouble } = strings.chat;
  const adviceByCode: Readonly<Record<string, string>> = {
    AUTH_REQUIRED: errors.signInAgain,
    CHAT_BUSY: trouble.busy,
    CHAT_LIMIT: trouble.limit,
    RATE_LIMITED: trouble.waitAndResend,
    MCP_RATE_LIMITED: trouble.waitAndResend,
    MODEL_NOT_FOUND: trouble.chooseModel,
    MODEL_REFUSED: trouble.modelRefused,
    MODEL_RATE_LIMITED: trouble.waitAndResend,
    MODEL_UNAVAILABLE: trouble.modelUnavailable,
  };
  return adviceByCode[code];
}
