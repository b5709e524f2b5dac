import type { HTMLAttributes } from 'react';
import { classNames } from './classNames.ts';
import styles from './Card.module.css';

/** Groups related content on a surface. */
export function Card({ className, ...rest }: HTMLAttributes<HTMLElement>) {
  return <section {...rest} className={classNames(styles['card'], className)} />;
}
