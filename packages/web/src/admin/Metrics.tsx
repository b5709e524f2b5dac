import { classNames } from '../ui/classNames.ts';
import styles from './Metrics.module.css';

interface Metric {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Highlights the value. The color is not the only sign: the value shows the problem too. */
  readonly isProblem?: boolean;
}

export function Metrics({ figures }: { readonly figures: readonly Metric[] }) {
  return (
    <dl className={styles['figures']}>
      {figures.map(({ name, value, note, isProblem = false }) => (
        <div key={name} className={styles['figure']}>
          <dt>{name}</dt>
          <dd>
            <span className={classNames(styles['value'], isProblem && styles['bad'])}>{value}</span>
            {note !== undefined && <span className={styles['note']}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
