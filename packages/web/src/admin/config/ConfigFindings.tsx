import { strings } from '../../strings/strings.ts';
import styles from './ConfigFindings.module.css';

interface ConfigFinding {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
  readonly line?: number | undefined;
}

/** Errors and warnings of a configuration with path, message and suggestion. */
export function ConfigFindings({ findings }: { readonly findings: readonly ConfigFinding[] }) {
  const { config } = strings.admin;
  return (
    <ul className={styles['findings']}>
      {findings.map(({ path, message, suggestion, line }, index) => (
        <li key={index}>
          <p>
            <code>{path}</code> {line !== undefined && <span>{config.line(line)}</span>}
          </p>
          <p>{message}</p>
          {suggestion !== undefined && (
            <p className={styles['suggestion']}>{config.suggestion(suggestion)}</p>
          )}
        </li>
      ))}
    </ul>
  );
}
