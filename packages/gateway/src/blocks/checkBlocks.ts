import type { BlockCheckRequest, BlockCheckView, CheckedBlock, MissingInput } from '@behalf/contracts';
import type { Inbound } from '../toolcall/inbound.ts';
import { checkBlock } from './checkBlock.ts';
import { seeSaved } from '../saved/findSaved.ts';
import { groupNeeds, type Waiting } from './groupNeeds.ts';
import type { RunBlockParts } from './parts.ts';
import { blockShelf } from './sealedBlocks.ts';

/** What one block came to, and what it waits for. */
export interface Checked {
  readonly shown: CheckedBlock;
  readonly inputs: readonly MissingInput[];
  readonly waiting: readonly Waiting[];
}

/**
 * Whether blocks would run for the caller now, and what all of them together wait for. Nothing runs; no server is asked for more
 * than its list of tools, and of a block that waits for something not even that.
 */
export async function checkBlocks(
  parts: RunBlockParts,
  inbound: Inbound,
  { ids, inputs, credentials }: BlockCheckRequest,
): Promise<BlockCheckView> {
  const { principal } = inbound;
  parts.roles.requirePermission(principal, 'USE');
  const checked = await Promise.all(
    [...new Set(ids)].map(async (id): Promise<Checked> => {
      const block = (await seeSaved(parts, blockShelf(parts), principal, id))?.thing;
      if (!block) return { shown: { id, state: 'not_found', runs: false }, inputs: [], waiting: [] };
      const given = Object.hasOwn(inputs, id) ? (inputs[id] ?? {}) : {};
      const credential = Object.hasOwn(credentials, id) ? credentials[id] : undefined;
      return checkBlock(parts, { ...inbound, credential }, block, { given });
    }),
  );
  return {
    runs: checked.every(({ shown }) => shown.runs),
    blocks: checked.map(({ shown }) => shown),
    missing: {
      inputs: checked.flatMap((each) => each.inputs),
      credentials: groupNeeds(
        parts,
        principal,
        checked.flatMap((each) => each.waiting),
      ),
    },
  };
}
