import { StoredBlock } from '@behalf/contracts';
import type { Keyring } from '@behalf/kernel';
import { toBlockSealContext, type BlockRecord, type BlockStore } from '../ports/index.ts';
import { blockKind } from '../saved/kinds.ts';
import type { SavedCollection } from '../saved/parts.ts';
import { createSealedStore, type SavedStore } from '../saved/sealedStore.ts';
import type { Log } from '../upstream/parts.ts';
import { MAX_BLOCK_LENGTH, MAX_BLOCKS } from './limits.ts';

/** A block as it was saved. */
export interface SavedBlock extends Omit<BlockRecord, 'sealed'>, StoredBlock {}

export type SavedBlocks = SavedStore<SavedBlock>;

export interface SealedBlockParts {
  readonly store: BlockStore;
  readonly keyring: Keyring;
  readonly log: Log;
}

const blockColumns = [
  ...(['id', 'tenant', 'owner', 'serverId', 'tool', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createSavedBlocks({ store, keyring, log }: SealedBlockParts): SavedBlocks {
  return createSealedStore({
    ...{
      kind: blockKind,
      store,
      keyring,
      log,
      columns: blockColumns,
      contentSchema: StoredBlock,
      toSealContext: toBlockSealContext,
    },
    limits: { maxPerOwner: MAX_BLOCKS, maxLength: MAX_BLOCK_LENGTH },
  });
}

export function getBlockCollection({
  blocks,
}: {
  readonly blocks: SavedBlocks;
}): SavedCollection<SavedBlock> {
  return { kind: blockKind, store: blocks };
}
