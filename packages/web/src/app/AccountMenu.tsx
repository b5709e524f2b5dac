import type { OwnUserView } from '@behalf/contracts';
import { Link } from 'wouter';
import { sendRequest } from '../api/request.ts';
import { strings } from '../strings/strings.ts';
import { IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { showError } from '../ui/Toasts.tsx';
import styles from './AccountMenu.module.css';
import { clearBehalfStorage } from './userSession.ts';

/** Menu of the signed-in user: settings and sign-out. */
export function AccountMenu({ user }: { readonly user: OwnUserView }) {
  const { shell } = strings;

  async function signOut(): Promise<void> {
    try {
      await sendRequest('/api/auth/logout', { method: 'POST', body: {} });
      clearBehalfStorage();
      location.assign('/');
    } catch (error) {
      showError(error);
    }
  }

  return (
    <div className={styles['account']}>
      <Link href="/settings" className={styles['who']} title={shell.account}>
        <span className={styles['avatar']} aria-hidden="true">
          {user.name.slice(0, 1).toUpperCase()}
        </span>
        <span className={styles['names']}>
          <span className={styles['name']}>{user.name}</span>
          <span className={styles['role']}>{user.role}</span>
        </span>
      </Link>
      <IconButton label={shell.signOut} icon={<Icon name="signOut" />} onClick={() => void signOut()} />
    </div>
  );
}
