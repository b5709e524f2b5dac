import type { AdminRoleView } from '@behalf/contracts';
import { mcpPermissions } from '@behalf/contracts/plain';
import { memo } from 'react';
import { formatAgo } from '../../hooks/formatTime.ts';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { PermissionSwitch } from './PermissionSwitch.tsx';
import styles from './RoleCard.module.css';

/** What is asked for with a button of the card. */
export interface RoleAction {
  readonly dialog: 'describe' | 'delete';
  readonly name: string;
}

/** A role, and what it allows. */
export const RoleCard = memo(function RoleCard({
  role,
  onAction,
}: {
  readonly role: AdminRoleView;
  readonly onAction: (action: RoleAction) => void;
}) {
  const { roles } = strings.admin;
  const { name, description, builtIn, updatedAt } = role;
  return (
    <div role="listitem" className={styles['item']}>
      <Card className={styles['card']}>
        <header className={styles['header']}>
          <div className={styles['names']}>
            <h2>{name}</h2>
            {builtIn && <Badge>{roles.builtIn}</Badge>}
            {updatedAt !== null && (
              <span className={styles['muted']}>{roles.changed(formatAgo(updatedAt))}</span>
            )}
          </div>
          <div className={styles['actions']}>
            <IconButton
              label={roles.editDescription(name)}
              icon={<Icon name="pencil" />}
              onClick={() => onAction({ dialog: 'describe', name })}
            />
            {!builtIn && (
              <IconButton
                label={roles.delete(name)}
                icon={<Icon name="trash" />}
                onClick={() => onAction({ dialog: 'delete', name })}
              />
            )}
          </div>
          <p className={styles['description']}>
            {description || roles.builtInTexts[name] || roles.noDescription}
          </p>
        </header>
        <fieldset className={styles['switches']}>
          <legend className="visually-hidden">{roles.permissionsOf(name)}</legend>
          {mcpPermissions.map((bit) => (
            <PermissionSwitch key={bit} role={role} bit={bit} />
          ))}
        </fieldset>
      </Card>
    </div>
  );
});
