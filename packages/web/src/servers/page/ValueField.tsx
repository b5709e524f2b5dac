import type { ServerView } from '@behalf/contracts';
import { secretMask } from '@behalf/contracts/plain';
import { strings } from '../../strings/strings.ts';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/Field.tsx';
import styles from './UserValues.module.css';

type UserVariable = NonNullable<ServerView['customUserVars']>[string];

/** One value: whether it is there, a field for another one, and a way to take it back. */
export function ValueField({
  definition: { title, description, sensitive },
  isSet,
  value,
  error,
  isBusy,
  onChange,
  onClear,
}: {
  readonly definition: UserVariable;
  /** Undefined while it is not known. */
  readonly isSet: boolean | undefined;
  readonly value: string;
  readonly error: string | undefined;
  readonly isBusy: boolean;
  readonly onChange: (value: string) => void;
  readonly onClear: () => void;
}) {
  const words = strings.servers;
  return (
    <div className={styles['value']}>
      <TextField
        label={title}
        hint={isSet ? [description, words.valueStored].filter(Boolean).join(' ') : description}
        error={error}
        type={sensitive ? 'password' : 'text'}
        autoComplete={sensitive ? 'new-password' : 'off'}
        spellCheck={false}
        placeholder={isSet ? secretMask : undefined}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
      <p className={styles['flag']}>
        {isSet !== undefined && (
          <Badge tone={isSet ? 'success' : 'warning'}>{isSet ? words.valueSet : words.valueMissing}</Badge>
        )}
        {isSet && (
          <Button
            size="small"
            variant="quiet"
            isBusy={isBusy}
            aria-label={words.valueClearOf(title)}
            onClick={onClear}
          >
            {words.valueClear}
          </Button>
        )}
      </p>
    </div>
  );
}
