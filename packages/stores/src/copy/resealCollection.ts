import type { CollectionName, RawCollections } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import type { MaintenanceLease } from './maintenanceLease.ts';
import { countSealedValues, openSealedValues } from './sealedValues.ts';
import { readPages } from './pages.ts';

/** What one pass over a collection met. */
export interface ResealResult {
  /** Values that open. */
  sealed: number;
  /** How many of them were under another key than the first. */
  underOldKey: number;
  /** And were still as they were read when they were replaced. */
  resealed: number;
  /** Values that do not open, of credentials known to be unreadable. */
  unreadable: number;
}

export interface ResealParts {
  raw: RawCollections;
  keyring: Keyring;
  lease: Pick<MaintenanceLease, 'acquireOrExtend'>;
  createError: (message: string) => Error;
}

/** Opens every value of a collection, and seals anew those that are not under the first key. */
export async function resealCollection(
  name: CollectionName,
  { raw, keyring, lease, createError }: ResealParts,
): Promise<ResealResult> {
  const result: ResealResult = { sealed: 0, underOldKey: 0, resealed: 0, unreadable: 0 };
  for await (const page of readPages(name, raw, lease)) {
    const opened = [...openSealedValues(name, page, keyring, createError)];
    const resealedValues = opened
      .map(({ key, field, value, context }) => ({
        key,
        field,
        oldValue: value,
        newValue: keyring.rewrap(value, context),
      }))
      .filter(({ oldValue, newValue }) => newValue !== oldValue);
    result.sealed += opened.length;
    result.unreadable += countSealedValues(name, page) - opened.length;
    result.underOldKey += resealedValues.length;
    if (resealedValues.length > 0) result.resealed += await raw.reseal(name, resealedValues);
  }
  return result;
}
