import type { ReactNode } from 'react';
import { explainError } from '../api/explain.ts';
import type { Tone } from './Badge.tsx';
import { Button } from './Button.tsx';
import { classNames } from './classNames.ts';
import { Icon } from './Icon.tsx';
import styles from './Notice.module.css';
import { strings } from '../strings/strings.ts';

const icons = {
  neutral: 'info',
  success: 'check',
  warning: 'warning',
  danger: 'error',
  info: 'info',
} as const;

/** A message about a problem or condition, and what to do. */
export function Notice({
  tone = 'info',
  title,
  children,
  actions,
  isSilent = false,
}: {
  readonly tone?: Tone;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
  /** Not announced by screen readers, for past events. */
  readonly isSilent?: boolean;
}) {
  const role = tone === 'danger' ? 'alert' : 'status';
  return (
    <div className={classNames(styles['notice'], styles[tone])} role={isSilent ? undefined : role}>
      <Icon name={icons[tone]} />
      <div className={styles['body']}>
        <p className={styles['title']}>{title}</p>
        {children !== undefined && children !== '' && <div className={styles['text']}>{children}</div>}
        {actions !== undefined && <div className={styles['actions']}>{actions}</div>}
      </div>
    </div>
  );
}

/** An error in place of the content that failed to load. */
export function ErrorNotice({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const { title, text } = explainError(error);
  return (
    <Notice
      tone="danger"
      title={title}
      actions={
        onRetry && (
          <Button size="small" onClick={onRetry}>
            {strings.common.retry}
          </Button>
        )
      }
    >
      {text}
    </Notice>
  );
}
