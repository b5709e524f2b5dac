import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { classNames } from './classNames.ts';
import styles from './Button.module.css';
import { Spinner } from './Spinner.tsx';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly size?: 'small' | 'normal';
  /** An action is in progress: the button keeps the focus and ignores clicks. */
  readonly isBusy?: boolean;
  readonly icon?: ReactNode;
  readonly ref?: Ref<HTMLButtonElement>;
}

export function Button({
  variant = 'plain',
  size = 'normal',
  isBusy = false,
  icon,
  children,
  className,
  disabled = false,
  onClick,
  ...rest
}: ButtonProps) {
  function handleClick(event: MouseEvent<HTMLButtonElement>): void {
    // The Enter key in a form field also triggers this.
    if (isBusy) event.preventDefault();
    else onClick?.(event);
  }
  return (
    <button
      type="button"
      {...rest}
      className={classNames(styles['button'], styles[variant], styles[size], className)}
      // A disabled button loses the focus, and keyboard users their position.
      disabled={disabled && !isBusy}
      {...(isBusy && { 'aria-disabled': true, 'aria-busy': true })}
      onClick={handleClick}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** A button with an icon only; `label` is its accessible name. */
export function IconButton({
  label,
  icon,
  ...rest
}: Omit<ButtonProps, 'children'> & { readonly label: string }) {
  return (
    <Button
      variant="quiet"
      {...rest}
      icon={icon}
      aria-label={label}
      title={label}
      className={classNames(styles['icon'], rest.className)}
    />
  );
}
