import styles from './UserRoleSelect.module.css';

export function UserRoleSelect({
  label,
  role,
  roles,
  isBusy,
  onChange,
}: {
  readonly label: string;
  readonly role: string;
  readonly roles: readonly string[];
  readonly isBusy: boolean;
  readonly onChange: (role: string) => void;
}) {
  // The role may have been deleted while the user was disabled.
  const options = roles.includes(role) ? roles : [role, ...roles];
  return (
    <select
      className={styles['select']}
      aria-label={label}
      aria-busy={isBusy}
      value={role}
      onChange={(event) => onChange(event.target.value)}
    >
      {options.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
