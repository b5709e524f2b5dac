import { KeptSet } from '@behalf/contracts';
import type { Keyring } from '@behalf/kernel';
import { setContext, type SetRecord, type SetStore } from '../ports/index.ts';
import { setKind } from '../saved/kinds.ts';
import type { Shelf } from '../saved/parts.ts';
import { createSealedSaved, type SavedThings } from '../saved/sealedSaved.ts';
import type { Log } from '../upstream/parts.ts';
import { LARGEST_SET, MOST_SETS } from './limits.ts';

/** A set as it was saved. */
export interface BlockSet extends Omit<SetRecord, 'sealed'>, KeptSet {}

export type BlockSets = SavedThings<BlockSet>;

const columns = [
  ...(['id', 'tenant', 'owner', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createSets(parts: {
  readonly store: SetStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): BlockSets {
  return createSealedSaved({
    ...{ ...parts, kind: setKind, columns, kept: KeptSet, contextOf: setContext },
    limits: { most: MOST_SETS, largest: LARGEST_SET },
  });
}

export function setShelf({ sets }: { readonly sets: BlockSets }): Shelf<BlockSet> {
  return { kind: setKind, things: sets };
}
