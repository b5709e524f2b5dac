import { createStore } from './store.ts';

/** `ended`: the gateway said that nobody is signed in here any more. `dismissed`: the reader knows, and reads on. */
type SessionStatus = 'valid' | 'ended' | 'dismissed';

export const sessionStatus = createStore<SessionStatus>('valid');

/** Whose page this is; undefined until it is known. */
export const currentUserId = createStore<string | undefined>(undefined);

export function markSessionEnded(): void {
  if (sessionStatus.get() === 'valid') sessionStatus.set('ended');
}

export function dismissSessionEnded(): void {
  sessionStatus.set('dismissed');
}

/** The gateway said who is signed in. What is on the page belongs to the first one: another begins with a new page. */
export function confirmSession(userId: string): void {
  const previous = currentUserId.get();
  if (previous !== undefined && previous !== userId) {
    location.reload();
    return;
  }
  currentUserId.set(userId);
  sessionStatus.set('valid');
}

/** Signs in again, and comes back to this page. */
export function goToSignIn(): void {
  saveHash();
  location.assign(signInUrl());
}

export function signInUrl(): string {
  return `/?returnTo=${encodeURIComponent(currentPath())}`;
}

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
