import { explainCode } from '../api/explain.ts';
import styles from './CodeWords.module.css';

/** A code in words, with the code itself for who wants to look it up. What no word is known for stands as it is. */
export function CodeWords({
  code,
  words = {},
}: {
  readonly code: string;
  /** Of codes that are no errors of ours. */
  readonly words?: Readonly<Record<string, string>>;
}) {
  const said = Object.hasOwn(words, code) ? words[code] : explainCode(code)?.title;
  return (
    <span className={styles['words']}>
      {said !== undefined && <span>{said}</span>} <code className={styles['code']}>{code}</code>
    </span>
  );
}
