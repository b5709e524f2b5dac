import { Link, useLocation } from 'wouter';
import { usePermission, useUser } from '../api/user.ts';
import { ConversationList } from '../chat/ConversationList.tsx';
import { strings } from '../strings/strings.ts';
import { classNames } from '../ui/classNames.ts';
import { Icon, type IconName } from '../ui/Icon.tsx';
import { AccountMenu } from './AccountMenu.tsx';
import styles from './Sidebar.module.css';

/** Navigation. Hides links that the user has no permission for. */
export function Sidebar() {
  const { shell, common } = strings;
  const user = useUser();
  const canUse = usePermission('USE');
  return (
    <nav className={styles['sidebar']} aria-label={shell.navigation}>
      <p className={styles['brand']}>{common.product}</p>
      <ul className={styles['links']}>
        {canUse && <NavLink href="/chat" icon="plus" label={shell.newChat} isExact />}
        {canUse && <NavLink href="/tools" icon="tools" label={shell.tools} />}
        {canUse && <NavLink href="/blocks" icon="block" label={shell.blocks} />}
        {canUse && <NavLink href="/servers" icon="server" label={shell.servers} />}
        {user?.isAdmin && <NavLink href="/admin" icon="shield" label={shell.admin} />}
      </ul>
      {/* Rendered together with the links above, so that they do not move later. */}
      {user && <div className={styles['conversations']}>{canUse && <ConversationList />}</div>}
      {user && <AccountMenu user={user} />}
    </nav>
  );
}

function NavLink({
  href,
  icon,
  label,
  isExact = false,
}: {
  readonly href: string;
  readonly icon: IconName;
  readonly label: string;
  readonly isExact?: boolean;
}) {
  const [path] = useLocation();
  const isCurrent = path === href || (!isExact && path.startsWith(`${href}/`));
  return (
    <li>
      <Link
        href={href}
        className={classNames(styles['link'], isCurrent && styles['here'])}
        aria-current={isCurrent ? 'page' : undefined}
      >
        <Icon name={icon} />
        {label}
      </Link>
    </li>
  );
}
