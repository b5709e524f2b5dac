import type { AclRole } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import styles from './SharingDialog.module.css';

/** Which of the named sets of rights somebody has. */
export function AccessRoleSelect({
  label,
  value,
  roles,
  isDisabled = false,
  onChange,
}: {
  readonly label: string;
  readonly value: AclRole;
  /** Those that may be given. */
  readonly roles: readonly AclRole[];
  readonly isDisabled?: boolean;
  readonly onChange: (role: AclRole) => void;
}) {
  const words = strings.servers.sharing;
  const isNotGrantable = !roles.includes(value);
  return (
    <select
      className={styles['role']}
      aria-label={label}
      value={value}
      disabled={isDisabled || isNotGrantable}
      onChange={({ target }) => onChange(target.value as AclRole)}
    >
      {(isNotGrantable ? [value] : roles).map((role) => (
        <option key={role} value={role}>
          {words.roles[role]}
        </option>
      ))}
    </select>
  );
}

/** What each of them lets people do. */
export function AccessRoleDescriptions({
  roles,
  texts,
}: {
  readonly roles: readonly AclRole[];
  readonly texts: Readonly<Record<AclRole, string>>;
}) {
  const words = strings.servers.sharing;
  return (
    <ul className={styles['meanings']}>
      {roles.map((role) => (
        <li key={role}>{words.describeRole(words.roles[role], texts[role])}</li>
      ))}
    </ul>
  );
}
