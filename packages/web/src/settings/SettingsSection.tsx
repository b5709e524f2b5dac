import type { ReactNode } from 'react';
import { Card } from '../ui/Card.tsx';
import styles from './SettingsSection.module.css';

/** A setting with its description. */
export function SettingsSection({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <Card className={styles['section']}>
      <header className={styles['header']}>
        <div>
          <h2>{title}</h2>
          {lead !== undefined && <p className={styles['lead']}>{lead}</p>}
        </div>
        {actions}
      </header>
      {children}
    </Card>
  );
}
