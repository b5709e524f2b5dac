import { classNames } from '../ui/classNames.ts';
import styles from './Metrics.module.css';

interface Metric {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Something to look at. The number says so as well. */
  readonly isProblem?: boolean;
}

/** Numbers side by side, each with its name. */
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
