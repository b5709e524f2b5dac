import type { Clock } from '@behalf/kernel';
import type { Attempt } from './attempt.ts';
import type { Closings } from './closings.ts';
import type { CurrentServers } from './currentServers.ts';
import type { Gate } from './gate.ts';
import type { ConnectionLimits } from './limits.ts';
import type { OpenConnections } from './openConnections.ts';
import type { Openings } from './openings.ts';

/** What the pools are made of. They share it: one shutdown, one count, one memory of failures. */
export interface PoolParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly gate: Gate;
  readonly attempt: Attempt;
  readonly openings: Openings;
  readonly closings: Closings;
  readonly connections: OpenConnections;
  readonly current: CurrentServers;
}

/** How a server stands in a pool; undefined when the pool has nothing of it. */
export type PoolState = 'connected' | 'connecting' | undefined;
