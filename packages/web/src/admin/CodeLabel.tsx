import { explainErrorCode } from '../api/explain.ts';
import styles from './CodeLabel.module.css';

/** Code with its description, or only the code if no description is known. */
export function CodeLabel({
  code,
  labels = {},
}: {
  readonly code: string;
  /** Descriptions of codes that are not error codes of Behalf. */
  readonly labels?: Readonly<Record<string, string>>;
}) {
  const label = Object.hasOwn(labels, code) ? labels[code] : explainErrorCode(code)?.title;
  return (
    <span className={styles['words']}>
      {label !== undefined && <span>{label}</span>} <code className={styles['code']}>{code}</code>
    </span>
  );
}
