import { IdText } from '../ui/Identity.tsx';
import styles from './ScopeList.module.css';

/** What a token reaches, in the words of whoever gives it. `scopes` has blanks between. */
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
