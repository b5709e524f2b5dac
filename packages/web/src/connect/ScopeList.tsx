import { IdText } from '../ui/Identity.tsx';
import styles from './ScopeList.module.css';

/** Scopes of a token, as named by the authorization server. `scopes` is separated by spaces. */
export function ScopeList({ scopes }: { readonly scopes: string }) {
  return (
    <ul className={styles['scopes']}>
      {splitScopes(scopes).map((scope) => (
        <li key={scope}>
          <IdText name={scope} className={styles['scope']} />
        </li>
      ))}
    </ul>
  );
}

function splitScopes(text: string): string[] {
  return [...new Set(text.split(/\s+/))].filter(Boolean);
}
