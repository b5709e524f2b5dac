import { lazy, Suspense } from 'react';
import type { CallPartState } from '../session/messages.ts';
import styles from './CallGroup.module.css';

const CallCard = lazy(() => import('./CallCard.tsx').then((m) => ({ default: m.CallCard })));

/** Parallel calls, shown side by side if there is room. */
export function CallGroup({
  parts,
  isLive,
  isLast,
}: {
  readonly parts: readonly CallPartState[];
  readonly isLive: boolean;
  readonly isLast: boolean;
}) {
  return (
    <ul className={styles['group']}>
      {parts.map((part) => (
        <li key={part.id} className={styles['entry']}>
          <Suspense fallback={<div className={styles['room']} />}>
            <CallCard part={part} isLive={isLive} isLast={isLast} />
          </Suspense>
        </li>
      ))}
    </ul>
  );
}
