import type { ReactNode } from 'react';
import styles from './Facts.module.css';

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
  /** Displayed in a monospaced font. */
  readonly isCode?: boolean;
}

/** A list of names and values. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl>
      {facts.map(({ name, value, isCode = false }) => (
        <div key={name} className={styles['fact']}>
          <dt>{name}</dt>
          <dd>{isCode ? <code>{value}</code> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
