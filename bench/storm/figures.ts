import type { VaultProcessRig } from '@behalf/testkit/vault';

/** The token requests of a storm and its failed calls. */
export interface StormFigures {
  token_requests: number;
  families_revoked: number;
  failed_calls: number;
}

export function toFigures(
  { authorization: { counters } }: VaultProcessRig,
  failedCalls: number,
): StormFigures {
  return {
    token_requests: counters.tokenHits,
    families_revoked: counters.familyRevocations,
    failed_calls: failedCalls,
  };
}

/** The figures as counts of the report, with a prefix. */
export function toCounts(name: string, figures: StormFigures): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([metric, count]) => [`${name}_${metric}`, count as number]),
  );
}
