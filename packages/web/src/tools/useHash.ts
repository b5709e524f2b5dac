import { useSyncExternalStore } from 'react';

/** Those of the router, which changes addresses without telling the browser's own listeners. */
const EVENTS = ['hashchange', 'popstate', 'pushState', 'replaceState'];

/** What stands behind the # of the address. */
export function useHash(): string {
  return useSyncExternalStore(subscribe, () => location.hash);
}

function subscribe(listener: () => void): () => void {
  for (const event of EVENTS) addEventListener(event, listener);
  return () => {
    for (const event of EVENTS) removeEventListener(event, listener);
  };
}
