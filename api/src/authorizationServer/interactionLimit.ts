import type { IncomingMessage } from 'node:http';
import { networkOf } from '@behalf/gateway';
import type { AuthorizationServerRecords } from '@behalf/gateway/facade';
import type { Clock } from '@behalf/kernel';
import { createTokenBuckets } from '../http/tokenBuckets.ts';

/** How long somebody has for an answer. */
export const INTERACTION_MS = 15 * 60 * 1000;
/** What a client sends is a few hundred characters, and all of it is kept. */
export const MAX_QUERY_LENGTH = 4_096;
/** For one network: as many as come from an office where everybody sets up their clients at once. */
const MAX_INTERACTIONS_PER_MINUTE = 60;
const MAX_NETWORKS = 10_000;
/** Of all networks: some 50 MB at their longest. */
const MAX_INTERACTIONS = 5_000;

/** Takes one: 0, or the milliseconds until there is one again. `step` tells questions from going on with one. */
export type InteractionLimit = (req: IncomingMessage, step: 'begin' | 'resume') => Promise<number>;

export interface InteractionLimitParts {
  readonly records: Pick<AuthorizationServerRecords, 'ensureCapacity'>;
  readonly clientAddressOf: (req: IncomingMessage) => string;
  readonly clock: Clock;
  readonly maxInteractions?: number;
}

/**
 * Whatever a client asks is kept until its user has answered, and anybody can ask: in the store where tokens are kept too. One
 * network gets no further than its share. Many at once only make the oldest question end sooner: to refuse the newest would
 * let them close this door for everybody.
 */
export function createInteractionLimit(parts: InteractionLimitParts): InteractionLimit {
  const { records, clientAddressOf, clock, maxInteractions = MAX_INTERACTIONS } = parts;
  const buckets = createTokenBuckets({
    clock,
    perMinute: MAX_INTERACTIONS_PER_MINUTE,
    maxBuckets: MAX_NETWORKS,
  });
  return async (req, step) => {
    const waitMs = buckets.consume(step, networkOf(clientAddressOf(req), 'site'));
    if (waitMs === 0) await records.ensureCapacity('Interaction', maxInteractions, INTERACTION_MS);
    return waitMs;
  };
}
