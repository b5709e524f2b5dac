import type { AnchorHTMLAttributes, ReactNode } from 'react';
import button from './Button.module.css';
import styles from './ButtonLink.module.css';
import { classNames } from './classNames.ts';

/** A link with the look of a button, for navigation or a download. */
export function ButtonLink({
  icon,
  children,
  className,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly icon?: ReactNode }) {
  return (
    <a {...rest} className={classNames(button['button'], styles['link'], className)}>
      {icon}
      {children}
    </a>
  );
}
