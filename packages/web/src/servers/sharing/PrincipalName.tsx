import type { SharedPrincipalView } from '@behalf/contracts';
import { strings } from '../../strings/strings.ts';
import { Icon } from '../../ui/Icon.tsx';
import styles from './SharingDialog.module.css';

const icons = { user: 'user', group: 'users', role: 'shield' } as const;

/** Who somebody is: the name, and what tells them from others of that name. */
export function PrincipalName({
  principal: { type, name, email },
  note,
  isOwn = false,
}: {
  readonly principal: Pick<SharedPrincipalView, 'type' | 'name' | 'email'>;
  readonly note?: string | undefined;
  readonly isOwn?: boolean;
}) {
  const text = strings.servers.sharing;
  return (
    <span className={styles['who']}>
      <Icon name={icons[type]} />
      <span className={styles['names']}>
        <span>
          {name} {isOwn && <span className={styles['muted']}>({text.you})</span>}
        </span>
        <span className={styles['muted']}>{email ?? note ?? text.types[type]}</span>
      </span>
    </span>
  );
}
