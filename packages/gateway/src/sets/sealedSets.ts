import { StoredSet } from '@behalf/contracts';
import type { Keyring } from '@behalf/kernel';
import { toSetSealContext, type SetRecord, type SetStore } from '../ports/index.ts';
import { setKind } from '../saved/kinds.ts';
import type { SavedCollection } from '../saved/parts.ts';
import { createSealedStore, type SavedStore } from '../saved/sealedStore.ts';
import type { Log } from '../upstream/parts.ts';
import { MAX_SET_LENGTH, MAX_SETS } from './limits.ts';

/** A set as it was saved. */
export interface BlockSet extends Omit<SetRecord, 'sealed'>, StoredSet {}

export type BlockSets = SavedStore<BlockSet>;

const setColumns = [
  ...(['id', 'tenant', 'owner', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createSets(parts: {
  readonly store: SetStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): BlockSets {
  return createSealedStore({
    ...{
      ...parts,
      kind: setKind,
      columns: setColumns,
      contentSchema: StoredSet,
      toSealContext: toSetSealContext,
    },
    limits: { maxPerOwner: MAX_SETS, maxLength: MAX_SET_LENGTH },
  });
}

export function getSetCollection({ sets }: { readonly sets: BlockSets }): SavedCollection<BlockSet> {
  return { kind: setKind, store: sets };
}
