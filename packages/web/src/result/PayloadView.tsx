import { useState } from 'react';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Icon } from '../ui/Icon.tsx';
import { showToast } from '../ui/Toasts.tsx';
import { saveFile, toFileName } from './saveFile.ts';
import { formatBytes } from '../ui/format.ts';
import styles from './PayloadView.module.css';
import type { Payload } from './resultContent.ts';

/** Only image types that `parseResultBlock` allows reach this component. */
export function ImageView({ payload }: { readonly payload: Payload }) {
  const words = strings.tools.result;
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) return <FileView payload={payload} note={words.imageUnreadable} />;
  return (
    <figure className={styles['figure']}>
      <img
        className={styles['image']}
        src={dataUrl(payload)}
        alt={payload.name || words.image}
        onError={() => setFailed(true)}
      />
      <SaveButton payload={payload} />
    </figure>
  );
}

export function AudioView({ payload }: { readonly payload: Payload }) {
  const words = strings.tools.result;
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) return <FileView payload={payload} note={words.audioUnreadable} />;
  return (
    <figure className={styles['figure']}>
      <audio
        className={styles['audio']}
        controls
        preload="metadata"
        src={dataUrl(payload)}
        aria-label={payload.name || words.audio}
        onError={() => setFailed(true)}
      />
      <SaveButton payload={payload} />
    </figure>
  );
}

export function FileView({ payload, note }: { readonly payload: Payload; readonly note?: string }) {
  const words = strings.tools.result;
  return (
    <div className={styles['file']}>
      <Icon name="download" />
      <div className={styles['about']}>
        <p className={styles['name']}>{payload.name || toFileName(payload) || words.file}</p>
        <p className={styles['facts']}>
          {[payload.mimeType, formatBytes(payload.base64.length * 0.75), note].filter(Boolean).join(' · ')}
        </p>
      </div>
      <SaveButton payload={payload} />
    </div>
  );
}

function SaveButton({ payload }: { readonly payload: Payload }) {
  const words = strings.tools.result;
  function save(): void {
    try {
      saveFile(payload);
    } catch {
      showToast('danger', words.downloadFailed);
    }
  }
  return (
    <Button size="small" variant="quiet" icon={<Icon name="download" size={16} />} onClick={save}>
      {words.download}
    </Button>
  );
}

function dataUrl({ mimeType, base64 }: Payload): string {
  return `data:${mimeType};base64,${base64}`;
}
