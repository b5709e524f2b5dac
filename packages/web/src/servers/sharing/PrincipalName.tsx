import type { SharedPrincipalView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import { Icon } from '../../ui/Icon.tsx';
import styles from './SharingDialog.module.css';

const principalIcons = { user: 'user', group: 'users', role: 'shield' } as const;

/** Who somebody is: the name, and what tells them from others of that name. */
export function PrincipalName({
  principal: { type, name, email },
  note,
  isCurrentUser = false,
}: {
  readonly principal: Pick<SharedPrincipalView, 'type' | 'name' | 'email'>;
  readonly note?: string | undefined;
  readonly isCurrentUser?: boolean;
}) {
  const words = strings.servers.sharing;
  return (
    <span className={styles['who']}>
      <Icon name={principalIcons[type]} />
      <span className={styles['names']}>
        <span>
          {name} {isCurrentUser && <span className={styles['muted']}>({words.you})</span>}
        </span>
        <span className={styles['muted']}>{email ?? note ?? words.types[type]}</span>
      </span>
    </span>
  );
}
