import { useSyncExternalStore } from 'react';

/** Those of the router, which changes addresses without telling the browser's own listeners. */
const HASH_EVENTS = ['hashchange', 'popstate', 'pushState', 'replaceState'];

/** What stands behind the # of the address. */
export function useHash(): string {
  return useSyncExternalStore(subscribeToHash, () => location.hash);
}

function subscribeToHash(listener: () => void): () => void {
  for (const event of HASH_EVENTS) addEventListener(event, listener);
  return () => {
    for (const event of HASH_EVENTS) removeEventListener(event, listener);
  };
}
