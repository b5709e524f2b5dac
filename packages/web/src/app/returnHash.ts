const RETURN_HASH_KEY = 'behalf.hash';

/** This page without what stands behind its #, which browsers keep to themselves. */
export function currentPath(): string {
  return location.pathname + location.search;
}

/** Before a sign-in leads away and back: what stands behind the # is not told to the gateway, and waits here. */
export function saveHash(): void {
  try {
    if (location.hash === '') sessionStorage.removeItem(RETURN_HASH_KEY);
    else sessionStorage.setItem(RETURN_HASH_KEY, JSON.stringify([currentPath(), location.hash]));
  } catch {
    // Without storage the page is there again, and its # is not.
  }
}

/** On arrival, once: only on the page it belongs to. */
export function restoreHash(): void {
  try {
    const saved: unknown = JSON.parse(sessionStorage.getItem(RETURN_HASH_KEY) ?? 'null');
    sessionStorage.removeItem(RETURN_HASH_KEY);
    if (!Array.isArray(saved) || location.hash !== '') return;
    const [address, hash] = saved as unknown[];
    if (address === currentPath() && typeof hash === 'string') history.replaceState(null, '', hash);
  } catch {
    // See above.
  }
}
