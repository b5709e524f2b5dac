import { keepHash, pageAddress } from './returnHash.ts';
import { createStore } from './store.ts';

/** `ended`: the gateway said that nobody is signed in here any more. `dismissed`: the reader knows, and reads on. */
export type SignIn = 'valid' | 'ended' | 'dismissed';

export const signIn = createStore<SignIn>('valid');

/** Whose page this is; undefined until it is known. */
export const signedInAs = createStore<string | undefined>(undefined);

export function sessionEnded(): void {
  if (signIn.get() === 'valid') signIn.set('ended');
}

export function dismissSignIn(): void {
  signIn.set('dismissed');
}

/** The gateway said who is signed in. What is on the page belongs to the first one: another begins with a new page. */
export function sessionAnswered(userId: string): void {
  const before = signedInAs.get();
  if (before !== undefined && before !== userId) {
    location.reload();
    return;
  }
  signedInAs.set(userId);
  signIn.set('valid');
}

/** Signs in again, and comes back to this page. */
export function goToSignIn(): void {
  keepHash();
  location.assign(signInAddress());
}

export function signInAddress(): string {
  return `/?returnTo=${encodeURIComponent(pageAddress())}`;
}
