import type { ApiKeyView } from '@behalf/contracts';
import { useState } from 'react';
import { formatAgo, formatDateTime } from '../hooks/formatTime.ts';
import { strings } from '../strings/strings.ts';
import { Badge, type Tone } from '../ui/Badge.tsx';
import { IconButton } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import styles from './ApiKeyRow.module.css';
import { keyExpiry, type KeyExpiry } from './keyExpiry.ts';

const expiryTones: Readonly<Record<KeyExpiry, Tone>> = {
  expired: 'danger',
  expiring: 'warning',
  good: 'neutral',
};

export function ApiKeyRow({
  apiKey,
  onDelete,
}: {
  readonly apiKey: ApiKeyView;
  readonly onDelete: () => void;
}) {
  const { keys } = strings.settings;
  const { name, hint, scopes, expiresAt, lastUsedAt } = apiKey;
  const [now] = useState(Date.now);
  const expiry = keyExpiry(expiresAt, now);
  return (
    <li className={styles['row']}>
      <div className={styles['what']}>
        <p className={styles['name']}>
          {name} <code>{keys.hint(hint)}</code>
        </p>
        <p className={styles['facts']}>
          {scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
          <span>{lastUsedAt === null ? keys.neverUsed : keys.lastUsed(formatAgo(lastUsedAt))}</span>
          {expiry === 'good' ? (
            <span>{keys.expiryTexts.good(formatDateTime(expiresAt))}</span>
          ) : (
            <Badge tone={expiryTones[expiry]}>{keys.expiryTexts[expiry](formatDateTime(expiresAt))}</Badge>
          )}
        </p>
      </div>
      <IconButton label={keys.delete(name)} icon={<Icon name="trash" />} onClick={onDelete} />
    </li>
  );
}
