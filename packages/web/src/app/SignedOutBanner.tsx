import { strings } from '../strings/strings.ts';
import { Icon } from '../ui/Icon.tsx';
import styles from './Banner.module.css';
import { goToSignIn, sessionStatus, signInUrl } from './sessionStatus.ts';
import { useStore } from './store.ts';

/** For who closed the dialog to read on: that nothing can be done here, and the way back in. */
export function SignedOutBanner() {
  const { shell } = strings;
  const isShown = useStore(sessionStatus) === 'dismissed';
  return (
    <div role="status">
      {isShown && (
        <p className={styles['banner']}>
          <Icon name="warning" size={16} /> {shell.signedOutBanner}{' '}
          <a
            href={signInUrl()}
            onClick={(event) => {
              event.preventDefault();
              goToSignIn();
            }}
          >
            {shell.signIn}
          </a>
        </p>
      )}
    </div>
  );
}
