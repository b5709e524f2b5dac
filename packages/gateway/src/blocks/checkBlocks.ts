import type { BlockCheckRequest, BlockCheckView, CheckedBlock, MissingInput } from '@behalf/contracts';
import type { Inbound } from '../toolcall/inbound.ts';
import { checkBlock } from './checkBlock.ts';
import { findVisibleSaved } from '../saved/findSaved.ts';
import { groupPrerequisites, type BlockPrerequisite } from './missingPrerequisites.ts';
import type { RunBlockParts } from './parts.ts';
import { getBlockCollection } from './sealedBlocks.ts';

/** What one block came to, and what it waits for. */
export interface BlockCheckResult {
  readonly view: CheckedBlock;
  readonly inputs: readonly MissingInput[];
  readonly prerequisites: readonly BlockPrerequisite[];
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
  const checks = await Promise.all(
    [...new Set(ids)].map(async (id): Promise<BlockCheckResult> => {
      const block = (await findVisibleSaved(parts, getBlockCollection(parts), principal, id))?.resource;
      if (!block) return { view: { id, state: 'not_found', runs: false }, inputs: [], prerequisites: [] };
      const provided = Object.hasOwn(inputs, id) ? (inputs[id] ?? {}) : {};
      const credential = Object.hasOwn(credentials, id) ? credentials[id] : undefined;
      return checkBlock(parts, { ...inbound, credential }, block, { provided });
    }),
  );
  return {
    runs: checks.every(({ view }) => view.runs),
    blocks: checks.map(({ view }) => view),
    missing: {
      inputs: checks.flatMap((each) => each.inputs),
      credentials: groupPrerequisites(
        parts,
        principal,
        checks.flatMap((each) => each.prerequisites),
      ),
    },
  };
}
