import { currentUserId } from '../../app/userSession.ts';
import type { Store } from '../../app/store.ts';

/** Unsent text by conversation. */
export interface Drafts {
  read(id: string | undefined): string;
  write(id: string | undefined, text: string): void;
  /** Calls back when the user is known. Drafts are not read or written before. */
  whenOwnerKnown(callback: () => void): void;
}

/**
 * Creates drafts in session storage, separated by user. They survive a reload and end with the tab
 * or the sign-out. If storage is full or disabled, drafts are not saved.
 */
export function createDrafts(
  owner: Pick<Store<string | undefined>, 'get' | 'subscribe'>,
  storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): Drafts {
  function storageKey(id: string | undefined): string | undefined {
    const userId = owner.get();
    return userId && `behalf.draft.${userId}.${id ?? 'new'}`;
  }
  return {
    read(id) {
      const key = storageKey(id);
      try {
        return (key && storage().getItem(key)) ?? '';
      } catch {
        return '';
      }
    },
    write(id, text) {
      const key = storageKey(id);
      if (key === undefined) return;
      try {
        if (text === '') storage().removeItem(key);
        else storage().setItem(key, text);
      } catch {
        // The text stays on the page.
      }
    },
    whenOwnerKnown(callback) {
      if (owner.get() !== undefined) {
        callback();
        return;
      }
      const unsubscribe = owner.subscribe(() => {
        unsubscribe();
        callback();
      });
    },
  };
}

export const pageDrafts = createDrafts(currentUserId, () => sessionStorage);
