const KEY_PREFIX = 'behalf.';

/** When somebody signs out: what the tab kept of theirs is not for who comes next. */
export function clearBehalfStorage(storage: () => Storage = () => sessionStorage): void {
  try {
    const stored = storage();
    for (const key of Object.keys(stored)) if (key.startsWith(KEY_PREFIX)) stored.removeItem(key);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}
