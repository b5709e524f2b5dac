import type { SharedPrincipalView } from '@behalf/contracts';
import type { AclRole } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { IconButton } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { PrincipalName } from './PrincipalName.tsx';
import { AccessRoleSelect } from './AccessRoleSelect.tsx';
import styles from './SharingDialog.module.css';

/** Somebody it is shared with, and what they may do. */
export function SharedPrincipalRow({
  principal,
  roles,
  isCurrentUser,
  onRoleChange,
  onRemove,
}: {
  readonly principal: SharedPrincipalView;
  readonly roles: readonly AclRole[];
  readonly isCurrentUser: boolean;
  readonly onRoleChange: (role: AclRole) => void;
  readonly onRemove: () => void;
}) {
  const words = strings.servers.sharing;
  const { name, accessRoleId } = principal;
  return (
    <li className={styles['row']}>
      <PrincipalName principal={principal} isCurrentUser={isCurrentUser} />
      <AccessRoleSelect
        label={words.accessOf(name)}
        value={accessRoleId}
        roles={roles}
        onChange={onRoleChange}
      />
      <IconButton
        label={words.remove(name)}
        icon={<Icon name="close" />}
        // Nobody takes what they could not give.
        disabled={!roles.includes(accessRoleId)}
        onClick={onRemove}
      />
    </li>
  );
}
