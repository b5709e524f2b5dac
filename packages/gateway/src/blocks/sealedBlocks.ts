import { KeptBlock } from '@behalf/contracts';
import { SealError, type Keyring } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { blockContext, type BlockRecord, type BlockStore } from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import { LARGEST_BLOCK, MOST_BLOCKS } from './limits.ts';

/** A block as it was saved. */
export interface Block extends Omit<BlockRecord, 'sealed'>, KeptBlock {}

/** What is written is what can be read back; what was changed, or moved here from elsewhere, is not there. */
export interface Blocks {
  find(tenant: string, id: string): Promise<Block | null>;
  /** In the order of their ids. */
  findMany(tenant: string, ids: readonly string[]): Promise<Block[]>;
  /** BLOCK_LIMIT when its owner has too many, REQUEST_TOO_LARGE when it is too large. */
  insert(block: Block): Promise<void>;
  /** VERSION_CONFLICT when it changed meanwhile, BLOCK_NOT_FOUND when it is gone. */
  replace(block: Block, seen: number): Promise<void>;
  remove(tenant: string, id: string): Promise<boolean>;
}

export interface SealedBlockParts {
  readonly store: BlockStore;
  readonly keyring: Keyring;
  readonly log: Log;
}

export function createBlocks({ store, keyring, log }: SealedBlockParts): Blocks {
  function seal(block: Block): BlockRecord {
    const { id, tenant, owner, serverId, tool, version, createdAt, updatedAt, updatedBy, ...kept } = block;
    const sealed = keyring.seal(JSON.stringify(KeptBlock.parse(kept)), blockContext(block));
    if (sealed.length > LARGEST_BLOCK) throw new GatewayError('REQUEST_TOO_LARGE');
    return { id, tenant, owner, serverId, tool, version, sealed, createdAt, updatedAt, updatedBy };
  }

  /** Null, and a line in the log, for one that does not open or is not what we sealed. */
  function open(record: BlockRecord): Block | null {
    const { sealed, ...rest } = record;
    try {
      return { ...rest, ...KeptBlock.parse(JSON.parse(keyring.open(sealed, blockContext(record)))) };
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('block_unreadable', { block: record.id, owner: record.owner, reason });
      return null;
    }
  }

  return {
    async find(tenant, id) {
      const record = await store.find(tenant, id);
      return record && open(record);
    },
    findMany: async (tenant, ids) =>
      (await store.findMany(tenant, ids)).flatMap((record) => open(record) ?? []),
    async insert(block) {
      if ((await store.insert(seal(block), MOST_BLOCKS)) === 'full') throw new GatewayError('BLOCK_LIMIT');
    },
    async replace(block, seen) {
      const outcome = await store.replace(seal(block), seen);
      if (outcome === 'version_conflict') throw new GatewayError('VERSION_CONFLICT');
      if (outcome === 'missing') throw new GatewayError('BLOCK_NOT_FOUND');
    },
    remove: (tenant, id) => store.remove(tenant, id),
  };
}
