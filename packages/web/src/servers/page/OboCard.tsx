import { useUser } from '../../api/user.ts';
import { currentPath, saveHash } from '../../app/userSession.ts';
import { ScopeList } from '../../connect/ScopeList.tsx';
import { strings } from '../../strings/strings.ts';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import styles from './cards.module.css';

/** The tokens that a server receives for its users. */
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

/** A sign-in at the organization's identity provider that returns to this page. */
export function OrganizationSignIn({ back }: { readonly back?: string | undefined }) {
  const words = strings.servers;
  if (!useUser()?.offersOpenId) return <p className={styles['muted']}>{words.signInNotOffered}</p>;
  const returnTo = encodeURIComponent(back ?? currentPath());
  return (
    <p className={styles['action']}>
      <a href={`/oauth/openid?returnTo=${returnTo}`} className={styles['link']} onClick={saveHash}>
        <Icon name="user" size={16} />
        {words.signInAgain}
      </a>
      <span className={styles['muted']}>{words.signInAgainText}</span>
    </p>
  );
}
