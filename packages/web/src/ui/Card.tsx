import type { HTMLAttributes } from 'react';
import { classNames } from './classNames.ts';
import styles from './Card.module.css';

/** Things that belong together, on a surface of their own. */
export function Card({ className, ...rest }: HTMLAttributes<HTMLElement>) {
  return <section {...rest} className={classNames(styles['card'], className)} />;
}
