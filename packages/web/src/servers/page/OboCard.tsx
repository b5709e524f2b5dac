import { ScopeList } from '../../connect/ScopeList.tsx';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import styles from './cards.module.css';

/** Of a server that gets tokens of its users: which ones. */
export function OboCard({ scopes }: { readonly scopes: string }) {
  const words = strings.servers;
  return (
    <Card className={styles['card']}>
      <h2>{words.oboTitle}</h2>
      <p>{words.oboText}</p>
      <ScopeList scopes={scopes} />
    </Card>
  );
}
