import { KeptBlock } from '@behalf/contracts';
import type { Keyring } from '@behalf/kernel';
import { blockContext, type BlockRecord, type BlockStore } from '../ports/index.ts';
import { blockKind } from '../saved/kinds.ts';
import type { Shelf } from '../saved/parts.ts';
import { createSealedSaved, type SavedThings } from '../saved/sealedSaved.ts';
import type { Log } from '../upstream/parts.ts';
import { LARGEST_BLOCK, MOST_BLOCKS } from './limits.ts';

/** A block as it was saved. */
export interface Block extends Omit<BlockRecord, 'sealed'>, KeptBlock {}

export type Blocks = SavedThings<Block>;

export interface SealedBlockParts {
  readonly store: BlockStore;
  readonly keyring: Keyring;
  readonly log: Log;
}

const columns = [
  ...(['id', 'tenant', 'owner', 'serverId', 'tool', 'version'] as const),
  ...(['createdAt', 'updatedAt', 'updatedBy'] as const),
];

export function createBlocks({ store, keyring, log }: SealedBlockParts): Blocks {
  return createSealedSaved({
    ...{ kind: blockKind, store, keyring, log, columns, kept: KeptBlock, contextOf: blockContext },
    limits: { most: MOST_BLOCKS, largest: LARGEST_BLOCK },
  });
}

export function blockShelf({ blocks }: { readonly blocks: Blocks }): Shelf<Block> {
  return { kind: blockKind, things: blocks };
}
