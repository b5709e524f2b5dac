import { withTimeout, type Cancel } from '@behalf/kernel';
import type { ChangeEvent } from '../../ports/index.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';

/** What changed, here and elsewhere. */
export interface ChangeBus {
  /** Tells everybody; a feed that does not answer is no reason to fail, nor to wait. */
  publish(id: string): Promise<void>;
  /** Until something is told of this credential, but for so long at most. */
  waitForChange(id: string, timeoutMs: number): Promise<void>;
  /** Ends the waiting of all who wait. */
  wakeAll(): void;
  onChange(listener: (id: string) => void): () => void;
  close(): void;
}

export interface ChangeBusParts extends Pick<
  ResolvedVaultParts,
  'changes' | 'localClock' | 'log' | 'timings'
> {
  /** First of all: what is known must be doubted before anybody acts on the notice. */
  readonly invalidate: (change: ChangeEvent) => void;
}

export function createChangeBus({
  changes,
  localClock,
  log,
  timings,
  invalidate,
}: ChangeBusParts): ChangeBus {
  const waiters = new Map<string, Set<() => void>>();
  const listeners = new Set<(id: string) => void>();

  function wake(id: string): void {
    const wakersToCall =
      id === '*' ? [...waiters.values()].flatMap((wakers) => [...wakers]) : [...(waiters.get(id) ?? [])];
    for (const waker of wakersToCall) waker();
  }

  function notifyListeners(id: string): void {
    wake(id);
    for (const listener of [...listeners]) {
      try {
        listener(id);
      } catch (error) {
        log('vault_listener_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      }
    }
  }

  const unsubscribe = changes.subscribe((change) => {
    invalidate(change);
    if (change.topic === 'credentials') notifyListeners(change.id);
  });

  return {
    async publish(id) {
      try {
        const published = changes.publish({ topic: 'credentials', id });
        await withTimeout(localClock, timings.storeTimeoutMs, published, () => {
          throw new Error('the request timed out');
        });
      } catch (error) {
        log('vault_publish_failed', { reason: error instanceof Error ? error.name : 'unknown' });
        // Others find out within their staleness; this process knows already.
        invalidate({ topic: 'credentials', id });
        notifyListeners(id);
      }
    },
    waitForChange(id, timeoutMs) {
      return new Promise((resolve) => {
        const wakers = waiters.get(id) ?? new Set();
        waiters.set(id, wakers);
        let cancel: Cancel = () => undefined;
        const done = () => {
          cancel();
          wakers.delete(done);
          if (wakers.size === 0 && waiters.get(id) === wakers) waiters.delete(id);
          resolve();
        };
        wakers.add(done);
        cancel = localClock.timer(timeoutMs, done, { keepAlive: true });
      });
    },
    wakeAll: () => wake('*'),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      unsubscribe();
      listeners.clear();
    },
  };
}
