import { withTimeout, type Clock } from '@behalf/kernel';
import { UpstreamError } from '../upstream/upstreamError.ts';
import {
  startPendingConnection,
  type PendingConnection,
  type PendingConnectionTask,
} from './pendingConnection.ts';

/** Everything that is being opened, so that a shutdown leaves nothing half-open behind. */
export interface PendingConnections {
  /** Throws after a shutdown. */
  start(task: PendingConnectionTask): PendingConnection;
  /** Throws after a shutdown: nothing is opened any more that nobody would close. */
  assertNotClosed(): void;
  /** Stops what is under way and waits until it has stopped, at most this long. */
  close(timeoutMs: number): Promise<void>;
}

export function createPendingConnections(clock: Clock): PendingConnections {
  const inProgress = new Set<PendingConnection>();
  let isClosed = false;
  const createShutdownError = () =>
    new UpstreamError('ended', { cause: new Error('The gateway is shutting down') });
  const assertNotClosed = () => {
    if (isClosed) throw createShutdownError();
  };

  return {
    assertNotClosed,
    start(task) {
      assertNotClosed();
      const pending = startPendingConnection({
        ...task,
        onSettled() {
          inProgress.delete(pending);
          task.onSettled();
        },
      });
      inProgress.add(pending);
      return pending;
    },
    async close(timeoutMs) {
      isClosed = true;
      const settled = [...inProgress].map((pending) => {
        pending.cancel(createShutdownError());
        return pending.settled;
      });
      await withTimeout(clock, timeoutMs, Promise.all(settled), () => undefined);
    },
  };
}
