import type { ChatProblem } from '@behalf/contracts';
import { isServerError } from '../../call/isServerError.ts';
import { ServerPageLink } from '../../call/ServerPageLink.tsx';
import { strings } from '../../strings/strings.ts';
import { Notice } from '../../ui/Notice.tsx';
import { describeProblem } from '../errors/describeProblem.ts';

/** Why a call failed, in words, and what to do about it. */
export function CallProblem({
  problem,
  server,
}: {
  readonly problem: ChatProblem;
  /** The name of the server that was called. */
  readonly server: string;
}) {
  const { code, title, errors = [] } = problem;
  const { text, advice } = describeProblem(problem);
  return (
    <Notice
      tone="danger"
      // An old failure is not read out again whenever its conversation is opened.
      isSilent
      title={title}
      actions={isServerError(code) ? <ServerPageLink server={server} errorCode={code} /> : undefined}
    >
      <p>{text}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {advice !== '' && (
        <p>
          {strings.chat.call.whatToDo} {advice}
        </p>
      )}
    </Notice>
  );
}
