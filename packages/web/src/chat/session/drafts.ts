import { currentUserId } from '../../app/sessionStatus.ts';
import type { Store } from '../../app/store.ts';

/** What was written and not sent, by conversation. */
export interface Drafts {
  read(id: string | undefined): string;
  write(id: string | undefined, text: string): void;
  /** Calls once it is known whose drafts these are; before, nothing is read or kept. */
  whenKnown(work: () => void): void;
}

/**
 * Kept until the tab is closed or its user signs out, also over a reload; who signs in after somebody else finds none of
 * theirs. Storage can be full or switched off; then it is not kept.
 */
export function createDrafts(
  owner: Pick<Store<string | undefined>, 'get' | 'subscribe'>,
  storage: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): Drafts {
  function keyOf(id: string | undefined): string | undefined {
    const user = owner.get();
    return user && `behalf.draft.${user}.${id ?? 'new'}`;
  }
  return {
    read(id) {
      const key = keyOf(id);
      try {
        return (key && storage().getItem(key)) ?? '';
      } catch {
        return '';
      }
    },
    write(id, text) {
      const key = keyOf(id);
      if (key === undefined) return;
      try {
        if (text === '') storage().removeItem(key);
        else storage().setItem(key, text);
      } catch {
        // It stays on the page.
      }
    },
    whenKnown(work) {
      if (owner.get() !== undefined) {
        work();
        return;
      }
      const forget = owner.subscribe(() => {
        forget();
        work();
      });
    },
  };
}

export const pageDrafts = createDrafts(currentUserId, () => sessionStorage);
