import { explainErrorCode } from '../api/explain.ts';
import styles from './CodeLabel.module.css';

/** A code in words, with the code itself for who wants to look it up. What no word is known for stands as it is. */
export function CodeLabel({
  code,
  labels = {},
}: {
  readonly code: string;
  /** Of codes that are no errors of ours. */
  readonly labels?: Readonly<Record<string, string>>;
}) {
  const label = Object.hasOwn(labels, code) ? labels[code] : explainErrorCode(code)?.title;
  return (
    <span className={styles['words']}>
      {label !== undefined && <span>{label}</span>} <code className={styles['code']}>{code}</code>
    </span>
  );
}
