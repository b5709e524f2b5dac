import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { userQuery } from '../api/user.ts';
import { strings } from '../strings/strings.ts';
import { Icon } from '../ui/Icon.tsx';
import { showToast } from '../ui/toasts.ts';
import styles from './Banner.module.css';
import { reachability } from './reachability.ts';
import { useStore } from './store.ts';

const PROBE_MS = 2_000;

/** While the gateway is silent it is asked again and again; once it answers, everything on the page is read anew. */
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
    // One that takes longer is waited for.
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
