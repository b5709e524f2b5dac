import { classes } from '../ui/classes.ts';
import styles from './Figures.module.css';

export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  /** Something to look at. The number says so as well. */
  readonly isBad?: boolean;
}

/** Numbers side by side, each with its name. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className={styles['figures']}>
      {figures.map(({ name, value, note, isBad = false }) => (
        <div key={name} className={styles['figure']}>
          <dt>{name}</dt>
          <dd>
            <span className={classes(styles['value'], isBad && styles['bad'])}>{value}</span>
            {note !== undefined && <span className={styles['note']}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
