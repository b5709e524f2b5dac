import { useStore } from '../app/store.ts';
import { strings } from '../strings/strings.ts';
import { IconButton } from './Button.tsx';
import { classNames } from './classNames.ts';
import { Icon } from './Icon.tsx';
import { dismissToast, toasts } from './toasts.ts';
import styles from './Toasts.module.css';

/** The corner in which toasts appear; always there, so that screen readers notice what is put into it. */
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
