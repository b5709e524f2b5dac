import type { ButtonHTMLAttributes, MouseEvent, ReactNode, Ref } from 'react';
import { classNames } from './classNames.ts';
import styles from './Button.module.css';
import { Spinner } from './Spinner.tsx';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: 'primary' | 'plain' | 'quiet' | 'danger';
  readonly size?: 'small' | 'normal';
  /** Something it began is under way: it stays in its place, keeps the focus and takes no second click. */
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
    // Enter in a field of its form comes here too.
    if (isBusy) event.preventDefault();
    else onClick?.(event);
  }
  return (
    <button
      type="button"
      {...rest}
      className={classNames(styles['button'], styles[variant], styles[size], className)}
      // A button that is disabled loses the focus, and whoever works with keys their place.
      disabled={disabled && !isBusy}
      {...(isBusy && { 'aria-disabled': true, 'aria-busy': true })}
      onClick={handleClick}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

/** A button that shows a sign alone; `label` is what it is called. */
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
