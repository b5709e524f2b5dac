import { createStore } from './store.ts';

/** `ended`: the gateway rejected the session. `dismissed`: the user closed the dialog to read on. */
type SessionStatus = 'valid' | 'ended' | 'dismissed';

export const sessionStatus = createStore<SessionStatus>('valid');

/** ID of the user of this page, or undefined while loading. */
export const currentUserId = createStore<string | undefined>(undefined);

export function markSessionEnded(): void {
  if (sessionStatus.get() === 'valid') sessionStatus.set('ended');
}

export function dismissSessionEnded(): void {
  sessionStatus.set('dismissed');
}

/** Records the signed-in user. The page belongs to the first user: another user gets a new page load. */
export function confirmSession(userId: string): void {
  const previous = currentUserId.get();
  if (previous !== undefined && previous !== userId) {
    location.reload();
    return;
  }
  currentUserId.set(userId);
  sessionStatus.set('valid');
}

/** Starts a new sign-in that returns to this page. */
export function goToSignIn(): void {
  saveHash();
  location.assign(signInUrl());
}

export function signInUrl(): string {
  return `/?returnTo=${encodeURIComponent(currentPath())}`;
}

const RETURN_HASH_KEY = 'behalf.hash';

/** Path and query of this page. The fragment is not sent to the gateway. */
export function currentPath(): string {
  return location.pathname + location.search;
}

/** Saves the fragment before a sign-in leaves the page. The gateway never receives it. */
export function saveHash(): void {
  try {
    if (location.hash === '') sessionStorage.removeItem(RETURN_HASH_KEY);
    else sessionStorage.setItem(RETURN_HASH_KEY, JSON.stringify([currentPath(), location.hash]));
  } catch {
    // Without storage the sign-in loses the fragment.
  }
}

/** Restores the fragment once, only on the page that it was saved for. */
export function restoreHash(): void {
  try {
    const saved: unknown = JSON.parse(sessionStorage.getItem(RETURN_HASH_KEY) ?? 'null');
    sessionStorage.removeItem(RETURN_HASH_KEY);
    if (!Array.isArray(saved) || location.hash !== '') return;
    const [address, hash] = saved as unknown[];
    if (address === currentPath() && typeof hash === 'string') history.replaceState(null, '', hash);
  } catch {
    // Storage is disabled or the entry is malformed.
  }
}

const KEY_PREFIX = 'behalf.';

/** Removes the data of this tab at sign-out, so that the next user does not see it. */
export function clearBehalfStorage(storage: () => Storage = () => sessionStorage): void {
  try {
    const stored = storage();
    for (const key of Object.keys(stored)) if (key.startsWith(KEY_PREFIX)) stored.removeItem(key);
  } catch {
    // Without storage there is nothing to remove.
  }
}
