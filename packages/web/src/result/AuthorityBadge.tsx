import type { Authority } from '@behalf/contracts';
import { strings } from '../strings/strings.ts';
import { Badge, type Tone } from '../ui/Badge.tsx';
import { Icon, type IconName } from '../ui/Icon.tsx';
import styles from './AuthorityBadge.module.css';

const badgeStyles = {
  none: ['neutral', 'users'],
  static: ['neutral', 'key'],
  user_values: ['info', 'user'],
  user_token: ['info', 'user'],
  exchanged: ['success', 'shield'],
} as const satisfies Record<Authority['kind'], readonly [Tone, IconName]>;

/** Shows which credential a call uses, with an explanation. */
export function AuthorityBadge({ authority }: { readonly authority: Authority }) {
  const words = strings.tools.authority;
  const { kind, scopes = [], shared } = authority;
  const [tone, icon] = badgeStyles[kind];
  return (
    <details className={styles['authority']}>
      <summary className={styles['summary']}>
        <span className="visually-hidden">{words.label}</span>
        <Badge tone={tone}>
          <Icon name={icon} size={14} /> {words[kind].name}
        </Badge>
      </summary>
      <p className={styles['text']}>
        {words[kind].text} {shared ? words.shared : words.own} {scopes.length > 0 && words.scopes(scopes)}
      </p>
    </details>
  );
}
