import { strings } from '../strings/strings.ts';
import styles from './ProgressView.module.css';

interface Progress {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** Progress of a tool call. The bar has a value only if the tool reports a total. */
export function ProgressView({ progress: { progress, total, message } }: { readonly progress: Progress }) {
  const words = strings.call;
  const isKnown = progress !== undefined && total !== undefined && total > 0;
  return (
    <div className={styles['progress']}>
      <progress
        className={styles['bar']}
        aria-label={message || words.progress}
        {...(isKnown && { value: Math.min(progress, total), max: total })}
      />
      <p className={styles['text']}>
        <span>{message}</span>
        {progress !== undefined && (
          <span>
            {isKnown
              ? words.progressOf(formatProgress(progress), formatProgress(total))
              : formatProgress(progress)}
          </span>
        )}
      </p>
    </div>
  );
}

function formatProgress(value: number): string {
  return new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(value);
}
