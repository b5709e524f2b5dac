import { useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../api/apiError.ts';
import { useDelayed } from '../hooks/useDelayed.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import styles from './ApprovalQuestion.module.css';
import { ExactArguments } from './ExactArguments.tsx';
import { formatLeft } from './formatLeft.ts';
import { isTyping } from './isTyping.ts';
import { ServerName } from './ServerName.tsx';
import { ToolName } from './ToolName.tsx';

export interface ApprovalQuestionProps {
  readonly tool: string;
  readonly toolTitle?: string | undefined;
  readonly server: string;
  readonly serverTitle: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expiresAt: number | undefined;
  /** What was answered and is on its way. */
  readonly deciding: 'approve' | 'deny' | undefined;
  /** What went wrong when it was answered. */
  readonly error: unknown;
  /** What to do when it does not wait any more. */
  readonly advice?: string;
  /** Whether somebody who types is left where they are. */
  readonly yieldsToTyping?: boolean;
  readonly onDecide: (approve: boolean) => void;
}

/** The question of a tool that asks first, with exactly what will be sent. */
export function ApprovalQuestion({
  tool,
  toolTitle = '',
  server,
  serverTitle,
  args,
  expiresAt,
  deciding,
  error,
  advice = '',
  yieldsToTyping = false,
  onDecide,
}: ApprovalQuestionProps) {
  const words = strings.call.approval;
  const box = useRef<HTMLDivElement>(null);
  const id = useId();
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    // The box and not a button: a key that was meant for something else must not approve.
    if (!yieldsToTyping || !isTyping(document.activeElement)) box.current?.focus();
  }, [yieldsToTyping]);
  // What fits into its box is seen at once.
  const isUnseen = useDelayed(!isSeen);
  const left = useLeft(expiresAt);
  const isGone = error instanceof ApiError && (error.status === 404 || error.status === 409);
  const isOver = isGone || left === 0;
  return (
    <div
      ref={box}
      className={styles['approval']}
      tabIndex={-1}
      role="group"
      aria-label={words.title}
      aria-describedby={`${id}-names`}
    >
      <p className={styles['title']}>
        <Icon name="shield" /> {words.title}
      </p>
      <dl className={styles['names']} id={`${id}-names`}>
        <dt>{words.tool}</dt>
        <dd>
          <ToolName tool={tool} title={toolTitle} />
        </dd>
        <dt>{words.server}</dt>
        <dd>
          <ServerName server={server} title={serverTitle} />
        </dd>
      </dl>
      <p>{words.text}</p>
      <ExactArguments args={args} onEnd={setSeen} />
      {error !== undefined && error !== null && !isGone && <ErrorNotice error={error} />}
      {isOver ? (
        <p role="status">
          {isGone ? words.gone : words.over} {advice}
        </p>
      ) : (
        <>
          {isUnseen && <p id={`${id}-unseen`}>{words.unseen}</p>}
          <div className={styles['actions']}>
            <Button
              variant="primary"
              isBusy={deciding === 'approve'}
              disabled={!isSeen || deciding !== undefined}
              aria-describedby={isUnseen ? `${id}-unseen` : undefined}
              onClick={() => onDecide(true)}
            >
              {words.approve}
            </Button>
            <Button
              isBusy={deciding === 'deny'}
              disabled={deciding !== undefined}
              onClick={() => onDecide(false)}
            >
              {words.deny}
            </Button>
            {left !== undefined && <span className={styles['left']}>{words.left(formatLeft(left))}</span>}
          </div>
        </>
      )}
    </div>
  );
}

/** Milliseconds until then, counted every second; undefined where it is not known. */
function useLeft(until: number | undefined): number | undefined {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return until === undefined ? undefined : Math.max(0, until - now);
}
