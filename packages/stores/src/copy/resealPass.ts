import type { CollectionName, RawCollections } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import type { Hold } from './hold.ts';
import { countSealed, openedValues } from './openSealed.ts';
import { pagesOf } from './pages.ts';

/** What one pass over a collection met. */
export interface ResealPass {
  /** Values that open. */
  sealed: number;
  /** How many of them were under another key than the first. */
  found: number;
  /** And were still as they were read when they were replaced. */
  resealed: number;
  /** Values that do not open, of credentials known to be unreadable. */
  unreadable: number;
}

export interface ResealParts {
  raw: RawCollections;
  keyring: Keyring;
  hold: Pick<Hold, 'acquireOrExtend'>;
  refuse: (message: string) => Error;
}

/** Opens every value of a collection, and seals anew those that are not under the first key. */
export async function resealPass(
  name: CollectionName,
  { raw, keyring, hold, refuse }: ResealParts,
): Promise<ResealPass> {
  const met: ResealPass = { sealed: 0, found: 0, resealed: 0, unreadable: 0 };
  for await (const page of pagesOf(name, raw, hold)) {
    const opened = [...openedValues(name, page, keyring, refuse)];
    const anew = opened
      .map(({ key, field, value, context }) => ({
        key,
        field,
        oldValue: value,
        newValue: keyring.rewrap(value, context),
      }))
      .filter(({ oldValue: before, newValue: after }) => after !== before);
    met.sealed += opened.length;
    met.unreadable += countSealed(name, page) - opened.length;
    met.found += anew.length;
    if (anew.length > 0) met.resealed += await raw.reseal(name, anew);
  }
  return met;
}
