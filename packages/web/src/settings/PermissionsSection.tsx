import type { OwnUserView } from '@behalf/contracts';
import { mcpPermissions } from '@behalf/contracts/plain';
import { strings } from '../strings/strings.ts';
import { classNames } from '../ui/classNames.ts';
import { Icon } from '../ui/Icon.tsx';
import styles from './PermissionsSection.module.css';
import { SettingsSection } from './SettingsSection.tsx';

/** What the role of who is signed in allows, in words. It follows a change while the page is open. */
export function PermissionsSection({ user }: { readonly user: OwnUserView }) {
  const { permissions } = strings.settings;
  return (
    <SettingsSection title={permissions.title} lead={permissions.lead(user.role)}>
      <ul className={styles['list']}>
        {mcpPermissions.map((permission) => {
          const isAllowed = user.permissions.MCP_SERVERS[permission];
          return (
            <li key={permission} className={classNames(styles['permission'], !isAllowed && styles['denied'])}>
              <Icon name={isAllowed ? 'check' : 'close'} />
              <span>{permissions.describe(permissions.descriptions[permission], isAllowed)}</span>
            </li>
          );
        })}
      </ul>
    </SettingsSection>
  );
}
