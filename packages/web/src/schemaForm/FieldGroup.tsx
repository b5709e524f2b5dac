import type { ReactNode } from 'react';
import { strings } from '../strings/strings.ts';
import { IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { renderFieldHint } from './renderFieldHint.tsx';
import { useFieldError, type FieldProps } from './formContext.ts';
import styles from './SchemaForm.module.css';

/** Fields that belong together, under one name. With `onRemove` the whole of it can be taken away. */
export function FieldGroup({
  node,
  label,
  path,
  isRequired,
  onRemove,
  children,
}: Pick<FieldProps, 'node' | 'label' | 'path' | 'isRequired'> & {
  readonly onRemove?: (() => void) | undefined;
  readonly children: ReactNode;
}) {
  const error = useFieldError(path);
  const hint = renderFieldHint(node);
  return (
    // The focus goes here when something is wrong with the whole.
    <fieldset className={styles['group']} tabIndex={-1} data-invalid={error === undefined ? undefined : true}>
      <legend className={styles['legend']}>
        {label}
        {isRequired && <span className={styles['required']}> {strings.common.required}</span>}
      </legend>
      {onRemove && (
        <IconButton
          className={styles['removeGroup'] ?? ''}
          size="small"
          label={strings.tools.form.remove(label)}
          icon={<Icon name="trash" size={16} />}
          onClick={onRemove}
        />
      )}
      {hint}
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      {children}
    </fieldset>
  );
}
