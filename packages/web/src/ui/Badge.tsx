import type { ReactNode } from 'react';
import { classNames } from './classNames.ts';
import styles from './Badge.module.css';

export type Tone = 'neutral' | 'success' | 'warning' | 'danger' | 'info';

/** The state of something as a word. Color only supports it. */
export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={classNames(styles['badge'], styles[tone])}>{children}</span>;
}
