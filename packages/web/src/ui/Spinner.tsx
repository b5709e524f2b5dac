import styles from './Spinner.module.css';

/** Indicates progress. Text next to it must say of what. */
export function Spinner() {
  return <span className={styles['spinner']} aria-hidden="true" />;
}
