const OURS = 'behalf.';

/** When somebody signs out: what the tab kept of theirs is not for who comes next. */
export function clearOwnStorage(storage: () => Storage = () => sessionStorage): void {
  try {
    const kept = storage();
    for (const key of Object.keys(kept)) if (key.startsWith(OURS)) kept.removeItem(key);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}
