import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react';
import { strings } from '../strings/strings.ts';
import { classNames } from './classNames.ts';
import styles from './Field.module.css';

interface FieldProps {
  readonly label: string;
  readonly hint?: ReactNode;
  /** Shown at the field and announced with it. */
  readonly error?: string | undefined;
  readonly isRequired?: boolean;
}

/** Connects a control with its label, hint and error. */
interface ControlProps {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
  readonly required: boolean;
}

/** A control with label, hint and error. */
export function Field({
  label,
  hint,
  error,
  isRequired = false,
  children,
}: FieldProps & { readonly children: (controlProps: ControlProps) => ReactNode }) {
  const id = useId();
  const hasHint = hint !== undefined && hint !== '';
  const describedBy = [hasHint && `${id}-hint`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={styles['label']}>
        {label}
        {isRequired && <span className={styles['required']}> {strings.common.required}</span>}
      </label>
      {children({
        id,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': error !== undefined || undefined,
        required: isRequired,
      })}
      {hasHint && (
        <p id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className={styles['error']}>
          {error}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, 'id' | 'required'>;

export function TextField({ label, hint, error, isRequired, className, ...rest }: TextFieldProps) {
  return (
    <Field {...{ label, hint, error, isRequired: isRequired ?? false }}>
      {(controlProps) => (
        <input type="text" {...rest} {...controlProps} className={classNames(styles['control'], className)} />
      )}
    </Field>
  );
}

type TextAreaProps = FieldProps &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'id' | 'required'> & {
    readonly ref?: Ref<HTMLTextAreaElement>;
  };

export function TextArea({ label, hint, error, isRequired, className, ...rest }: TextAreaProps) {
  return (
    <Field {...{ label, hint, error, isRequired: isRequired ?? false }}>
      {(controlProps) => (
        <textarea rows={3} {...rest} {...controlProps} className={classNames(styles['control'], className)} />
      )}
    </Field>
  );
}

type SelectFieldProps = FieldProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, 'id' | 'required'>;

export function SelectField({
  label,
  hint,
  error,
  isRequired,
  className,
  children,
  ...rest
}: SelectFieldProps) {
  return (
    <Field {...{ label, hint, error, isRequired: isRequired ?? false }}>
      {(controlProps) => (
        <select {...rest} {...controlProps} className={classNames(styles['control'], className)}>
          {children}
        </select>
      )}
    </Field>
  );
}

/** A switch that takes effect immediately. */
export function Switch({
  label,
  hint,
  isOn,
  onChange,
  isDisabled = false,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly isDisabled?: boolean;
}) {
  const id = useId();
  return (
    <div className={styles['switch']}>
      <input
        id={id}
        type="checkbox"
        role="switch"
        checked={isOn}
        disabled={isDisabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <div>
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className={styles['hint']}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
