import { useSyncExternalStore } from 'react';

/** As in Shell.module.css. */
const narrowQuery = window.matchMedia('(max-width: 48rem)');

/** Whether there is no room for the navigation beside the page. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribeToWidth, () => narrowQuery.matches);
}

function subscribeToWidth(listener: () => void): () => void {
  narrowQuery.addEventListener('change', listener);
  return () => narrowQuery.removeEventListener('change', listener);
}
