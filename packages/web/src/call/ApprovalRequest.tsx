import { useEffect, useId, useRef, useState } from 'react';
import { ApiError } from '../api/request.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ServerIdentity, ToolIdentity } from '../ui/Identity.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { formatRemainingTime } from '../ui/format.ts';
import styles from './ApprovalRequest.module.css';
import { ExactArguments } from './ExactArguments.tsx';

interface ApprovalRequestProps {
  readonly tool: string;
  readonly toolTitle?: string | undefined;
  readonly server: string;
  readonly serverTitle: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly expiresAt: number | undefined;
  /** Decision that is being sent. */
  readonly pendingDecision: 'approve' | 'deny' | undefined;
  /** Error of the last decision. */
  readonly error: unknown;
  /** Advice after the request has expired or was closed. */
  readonly advice?: string;
  /** If true, the request does not take the focus from a field with text. */
  readonly keepsTypingFocus?: boolean;
  readonly onDecide: (approve: boolean) => void;
}

/** Approval request of a tool with exactly the arguments that will be sent. */
export function ApprovalRequest({
  tool,
  toolTitle = '',
  server,
  serverTitle,
  args,
  expiresAt,
  pendingDecision,
  error,
  advice = '',
  keepsTypingFocus = false,
  onDecide,
}: ApprovalRequestProps) {
  const words = strings.call.approval;
  const boxRef = useRef<HTMLDivElement>(null);
  const id = useId();
  const [hasReachedEnd, setReachedEnd] = useState(false);
  useEffect(() => {
    // Focuses the box, not a button: a key press meant for another element must not approve the call.
    if (!keepsTypingFocus || !isTyping(document.activeElement)) boxRef.current?.focus();
  }, [keepsTypingFocus]);
  // Short arguments are visible immediately, so the hint to scroll appears only after a delay.
  const isUnread = useDelayed(!hasReachedEnd);
  const remainingMs = useRemainingMs(expiresAt);
  const isClosed = error instanceof ApiError && (error.status === 404 || error.status === 409);
  const hasEnded = isClosed || remainingMs === 0;
  return (
    <div
      ref={boxRef}
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
          <ToolIdentity tool={tool} title={toolTitle} />
        </dd>
        <dt>{words.server}</dt>
        <dd>
          <ServerIdentity server={server} title={serverTitle} />
        </dd>
      </dl>
      <p>{words.text}</p>
      <ExactArguments args={args} onReachEnd={setReachedEnd} />
      {error !== undefined && error !== null && !isClosed && <ErrorNotice error={error} />}
      {hasEnded ? (
        <p role="status">
          {isClosed ? words.closed : words.expired} {advice}
        </p>
      ) : (
        <>
          {isUnread && <p id={`${id}-unseen`}>{words.scrollToEnd}</p>}
          <div className={styles['actions']}>
            <Button
              variant="primary"
              isBusy={pendingDecision === 'approve'}
              disabled={!hasReachedEnd || pendingDecision !== undefined}
              aria-describedby={isUnread ? `${id}-unseen` : undefined}
              onClick={() => onDecide(true)}
            >
              {words.approve}
            </Button>
            <Button
              isBusy={pendingDecision === 'deny'}
              disabled={pendingDecision !== undefined}
              onClick={() => onDecide(false)}
            >
              {words.deny}
            </Button>
            {remainingMs !== undefined && (
              <span className={styles['left']}>{words.expiresIn(formatRemainingTime(remainingMs))}</span>
            )}
          </div>
        </>
      )}
    </div>
  );
}

/** Returns the remaining milliseconds, updated every second, or undefined without a deadline. */
function useRemainingMs(until: number | undefined): number | undefined {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until === undefined) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [until]);
  return until === undefined ? undefined : Math.max(0, until - now);
}

/** Checks whether the user is typing or in a dialog. An empty field may lose the focus. */
function isTyping(element: Element | null): boolean {
  if (element?.closest('dialog, [role="dialog"]')) return true;
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement)
    return element.value !== '';
  return element instanceof HTMLElement && element.isContentEditable;
}

/** A hint that appears for less time than this would only flicker. */
const NOTICEABLE_DELAY_MS = 300;

/** Returns true after `isActive` has been true for `delayMs` milliseconds. */
function useDelayed(isActive: boolean, delayMs = NOTICEABLE_DELAY_MS): boolean {
  const [isDelayed, setLate] = useState(false);
  useEffect(() => {
    if (!isActive) return undefined;
    const timer = setTimeout(() => setLate(true), delayMs);
    return () => {
      clearTimeout(timer);
      setLate(false);
    };
  }, [isActive, delayMs]);
  return isActive && isDelayed;
}
