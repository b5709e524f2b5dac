import { currentUserId } from '../../app/userSession.ts';
import type { Store } from '../../app/store.ts';

/** What was written and not sent, by conversation. */
export interface Drafts {
  read(id: string | undefined): string;
  write(id: string | undefined, text: string): void;
  /** Calls once it is known whose drafts these are; before, nothing is read or kept. */
  whenOwnerKnown(callback: () => void): void;
}

/**
 * Kept until the tab is closed or its user signs out, also over a reload; who signs in after somebody else finds none of
 * theirs. Storage can be full or switched off; then it is not kept.
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
        // It stays on the page.
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
