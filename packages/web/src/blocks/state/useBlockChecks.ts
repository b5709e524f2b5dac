import type { BlockCheckView, CheckedBlock, MissingParts } from '@behalf/contracts';
import { useQueries } from '@tanstack/react-query';
import { blockCheckQuery, MAX_CHECKED_BLOCKS } from '../../api/blocks.ts';

export interface BlockCheck {
  readonly checkedBlock: CheckedBlock;
  readonly missing: MissingParts;
}

/** How each of these blocks stands, as far as it is known yet. */
export function useBlockChecks(ids: readonly string[]): ReadonlyMap<string, BlockCheck> {
  const chunks = Array.from({ length: Math.ceil(ids.length / MAX_CHECKED_BLOCKS) }, (_, index) =>
    ids.slice(index * MAX_CHECKED_BLOCKS, (index + 1) * MAX_CHECKED_BLOCKS),
  );
  return useQueries({
    queries: chunks.map((chunk) => blockCheckQuery(chunk)),
    combine: (results) => checksByBlock(results.flatMap(({ data }) => data ?? [])),
  });
}

function checksByBlock(responses: readonly BlockCheckView[]): ReadonlyMap<string, BlockCheck> {
  return new Map(
    responses.flatMap(({ blocks, missing }) =>
      blocks.map((checkedBlock) => [checkedBlock.id, { checkedBlock, missing }]),
    ),
  );
}
