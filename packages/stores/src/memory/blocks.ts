import type { BlockStore } from '@behalf/gateway/ports';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryBlocks({ blocks }: Tables): BlockStore {
  const find = (tenant: string, id: string) => {
    const block = blocks.get(id);
    return block?.tenant === tenant ? block : undefined;
  };

  return {
    find: async (tenant, id) => copyOf(find(tenant, id)),
    findMany: async (tenant, ids) =>
      copiesOf(
        [...new Set(ids)].flatMap((id) => find(tenant, id) ?? []).sort(inOrderOf((block) => block.id)),
      ),
    async insert(block, most) {
      const { tenant, owner } = block;
      if (blocks.has(block.id)) throw new Error('A block of this id exists');
      const own = [...blocks.values()].filter((other) => other.tenant === tenant && other.owner === owner);
      if (own.length >= most) return 'full';
      blocks.set(block.id, { ...block });
      return 'inserted';
    },
    async replace(block, seen) {
      const current = find(block.tenant, block.id);
      if (!current) return 'missing';
      if (current.version !== seen) return 'version_conflict';
      blocks.set(block.id, { ...block });
      return 'replaced';
    },
    remove: async (tenant, id) => find(tenant, id) !== undefined && blocks.delete(id),
  };
}
