import { useSyncExternalStore } from 'react';

/** As in Shell.module.css. */
const narrow = window.matchMedia('(max-width: 48rem)');

/** Whether there is no room for the navigation beside the page. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}
