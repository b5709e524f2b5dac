import { strings } from '../strings/strings.ts';
import styles from './Skeleton.module.css';

/** A placeholder with the size of the coming content. Visible only after a short delay. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  return (
    <div className={styles['skeleton']} role="status" aria-label={strings.common.loading}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} aria-hidden="true" />
      ))}
    </div>
  );
}
