import { strings } from '../strings/strings.ts';
import styles from './Skeleton.module.css';

/** The shape of what is coming, in the room it will take from the first moment. Seen when it takes longer than that. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles['skeleton']} role="status" aria-label={strings.common.loading}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}
