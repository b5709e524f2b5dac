import type { SessionView } from '@behalf/contracts';
import { formatAgo, formatDateTime } from '../ui/format.ts';
import { useFocusAfterRemoval } from '../ui/focus.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import { Button } from '../ui/Button.tsx';
import styles from './SessionList.module.css';

/** The sessions of a user. Each one can be ended. */
export function SessionList({
  sessions,
  endingId,
  onEnd,
}: {
  readonly sessions: readonly SessionView[];
  /** The session that is being ended. */
  readonly endingId: string | undefined;
  readonly onEnd: (session: SessionView) => void;
}) {
  const words = strings.settings.sessions;
  const list = useFocusAfterRemoval<HTMLUListElement>(sessions.length);
  const newestFirst = [...sessions].sort((a, b) => b.createdAt - a.createdAt);
  return (
    <ul className={styles['list']} ref={list} tabIndex={-1} aria-label={words.title}>
      {newestFirst.map((session) => (
        <li key={session.id} className={styles['session']}>
          <div>
            <p className={styles['via']}>
              {words.via[session.via]} {session.current && <Badge tone="success">{words.current}</Badge>}
            </p>
            <p className={styles['times']}>
              {words.times(formatAgo(session.createdAt), formatDateTime(session.expiresAt))}
            </p>
          </div>
          <Button
            size="small"
            isBusy={endingId === session.id}
            aria-label={words.endLabel(formatDateTime(session.createdAt))}
            onClick={() => onEnd(session)}
          >
            {words.end}
          </Button>
        </li>
      ))}
    </ul>
  );
}
