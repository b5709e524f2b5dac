import { strings } from '../../strings/strings.ts';

/** What somebody who chats can do about an error, where the words of the catalogue are for who writes programs. */
export function chatAdvice(code: string): string | undefined {
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
