import type { BlockCheckView, CheckedBlock, MissingParts } from '@behalf/contracts';
import { useQueries } from '@tanstack/react-query';
import { blockCheckQuery, MOST_CHECKED } from '../../api/blocks.ts';

export interface BlockCheck {
  readonly checked: CheckedBlock;
  readonly missing: MissingParts;
}

/** How each of these blocks stands, as far as it is known yet. */
export function useBlockChecks(ids: readonly string[]): ReadonlyMap<string, BlockCheck> {
  const chunks = Array.from({ length: Math.ceil(ids.length / MOST_CHECKED) }, (_, index) =>
    ids.slice(index * MOST_CHECKED, (index + 1) * MOST_CHECKED),
  );
  return useQueries({
    queries: chunks.map((chunk) => blockCheckQuery(chunk)),
    combine: (results) => byBlock(results.flatMap(({ data }) => data ?? [])),
  });
}

function byBlock(answers: readonly BlockCheckView[]): ReadonlyMap<string, BlockCheck> {
  return new Map(
    answers.flatMap(({ blocks, missing }) => blocks.map((checked) => [checked.id, { checked, missing }])),
  );
}
