import { useEffect, useRef } from 'react';
import type { CreatedApiKey } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { CopyButton } from '../ui/CopyButton.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Notice } from '../ui/Notice.tsx';
import styles from './CreatedKeyDialog.module.css';

/** Shows the new key. The gateway stores only a hash, so it cannot be shown again. */
export function CreatedKeyDialog({
  apiKey: { name, key },
  onClose,
}: {
  readonly apiKey: CreatedApiKey;
  readonly onClose: () => void;
}) {
  const { keys } = strings.settings;
  const fieldRef = useRef<HTMLInputElement>(null);
  useEffect(() => fieldRef.current?.select(), []);
  return (
    <Dialog
      title={keys.createdTitle(name)}
      onClose={onClose}
      isWide
      actions={
        <Button variant="primary" onClick={onClose}>
          {keys.done}
        </Button>
      }
    >
      <Notice tone="warning" title={keys.copyNowTitle}>
        {keys.copyNowText}
      </Notice>
      <div className={styles['key']}>
        <input
          ref={fieldRef}
          className={styles['value']}
          aria-label={keys.key}
          readOnly
          spellCheck={false}
          value={key}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton text={() => key} />
      </div>
    </Dialog>
  );
}
