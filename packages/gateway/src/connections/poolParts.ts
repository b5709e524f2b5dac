import type { Clock } from '@behalf/kernel';
import type { OpenAndRecord } from './openAndRecord.ts';
import type { CloseTracker } from './closeTracker.ts';
import type { ActiveRevisions } from './activeRevisions.ts';
import type { BreakerGuard } from './breakerGuard.ts';
import type { ConnectionLimits } from './limits.ts';
import type { OpenConnections } from './openConnections.ts';
import type { PendingConnections } from './pendingConnections.ts';

/** What the pools are made of. They share it: one shutdown, one count, one memory of failures. */
export interface PoolParts {
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly breakerGuard: BreakerGuard;
  readonly openAndRecord: OpenAndRecord;
  readonly pendingConnections: PendingConnections;
  readonly closeTracker: CloseTracker;
  readonly connections: OpenConnections;
  readonly activeRevisions: ActiveRevisions;
}

/** How a server stands in a pool; undefined when the pool has nothing of it. */
export type PoolState = 'connected' | 'connecting' | undefined;
