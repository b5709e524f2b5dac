import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { userQuery } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { Button } from '../ui/Button.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { Icon } from '../ui/Icon.tsx';
import { showToast } from '../ui/Toasts.tsx';
import styles from './Banner.module.css';
import { reachability } from './queryClient.ts';
import { useStore } from './store.ts';
import { dismissSessionEnded, goToSignIn, sessionStatus, signInUrl } from './userSession.ts';

const PROBE_MS = 2_000;

/** Banner while the gateway is unreachable. Polls the gateway and reloads all queries when it answers. */
export function ReachabilityBanner() {
  const { shell } = strings;
  const queryClient = useQueryClient();
  const isReachable = useStore(reachability);
  const wasUnreachable = useRef(false);

  useEffect(() => {
    if (isReachable) {
      if (!wasUnreachable.current) return undefined;
      wasUnreachable.current = false;
      showToast('success', shell.backOnline);
      void queryClient.invalidateQueries();
      return undefined;
    }
    wasUnreachable.current = true;
    // A pending request is not restarted.
    const checkGateway = () =>
      void queryClient.refetchQueries({ queryKey: userQuery.queryKey }, { cancelRefetch: false });
    const timer = setInterval(checkGateway, PROBE_MS);
    return () => clearInterval(timer);
  }, [isReachable, queryClient, shell]);

  return (
    <div role="status">
      {!isReachable && (
        <p className={styles['banner']}>
          <Icon name="warning" size={16} /> {shell.offline}
        </p>
      )}
    </div>
  );
}

/** Banner with a sign-in link after the user dismissed the session dialog. */
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

/** Dialog after the session has ended. The user can dismiss it and continue to read the page. */
export function SessionEndedDialog() {
  const { shell, common } = strings;
  if (useStore(sessionStatus) !== 'ended') return null;
  return (
    <Dialog
      title={shell.signedOutTitle}
      onClose={dismissSessionEnded}
      onSubmit={goToSignIn}
      actions={
        <>
          <Button onClick={dismissSessionEnded}>{common.close}</Button>
          <Button type="submit" variant="primary">
            {shell.signIn}
          </Button>
        </>
      }
    >
      <p>{shell.signedOutText}</p>
    </Dialog>
  );
}
