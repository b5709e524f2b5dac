import { explainError } from '../api/explain.ts';
import { createStore, useStore } from '../app/store.ts';
import { strings } from '../strings/strings.ts';
import type { Tone } from './Badge.tsx';
import { IconButton } from './Button.tsx';
import { Icon } from './Icon.tsx';
import styles from './Toasts.module.css';
import { classNames } from './classNames.ts';

/** The container of toasts. It always exists, so that screen readers announce new ones. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className={styles['toasts']} role="status" aria-live="polite">
      {shown.map(({ id, tone, title, text }) => (
        <div key={id} className={classNames(styles['toast'], styles[tone])}>
          <div>
            <p className={styles['title']}>{title}</p>
            {text && <p>{text}</p>}
          </div>
          <IconButton
            size="small"
            label={strings.common.dismiss}
            icon={<Icon name="close" size={16} />}
            onClick={() => dismissToast(id)}
          />
        </div>
      ))}
    </div>
  );
}

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly title: string;
  readonly text: string;
}

/** Long enough to read. Errors stay until the user dismisses them. */
const TOAST_DURATION_MS = 6_000;
const MAX_TOASTS = 4;

const toasts = createStore<readonly Toast[]>([]);
let lastId = 0;

function dismissToast(id: number): void {
  toasts.set(toasts.get().filter((toast) => toast.id !== id));
}

/** Shows a message in a corner without moving the focus. */
export function showToast(tone: Tone, title: string, text = ''): void {
  // Replaces an equal message.
  const others = toasts.get().filter((toast) => toast.title !== title || toast.text !== text);
  const id = (lastId += 1);
  toasts.set([...others, { id, tone, title, text }].slice(-MAX_TOASTS));
  if (tone !== 'danger') setTimeout(() => dismissToast(id), TOAST_DURATION_MS);
}

export function showError(error: unknown): void {
  const { title, text } = explainError(error);
  showToast('danger', title, text);
}
