import { saveHash, currentPath } from './returnHash.ts';
import { createStore } from './store.ts';

/** `ended`: the gateway said that nobody is signed in here any more. `dismissed`: the reader knows, and reads on. */
export type SessionStatus = 'valid' | 'ended' | 'dismissed';

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
