import { within, type Cancel } from '@behalf/kernel';
import type { ChangeNotice } from '../../ports/index.ts';
import type { VaultTools } from './vaultParts.ts';

/** What changed, here and elsewhere. */
export interface Notices {
  /** Tells everybody; a feed that does not answer is no reason to fail, nor to wait. */
  publish(id: string): Promise<void>;
  /** Until something is told of this credential, but for so long at most. */
  heard(id: string, mostMs: number): Promise<void>;
  /** Ends the waiting of all who wait. */
  wakeAll(): void;
  onChange(listener: (id: string) => void): () => void;
  close(): void;
}

export interface NoticeParts extends Pick<VaultTools, 'changes' | 'localClock' | 'log' | 'timings'> {
  /** First of all: what is known must be doubted before anybody acts on the notice. */
  readonly onNotice: (notice: ChangeNotice) => void;
}

export function createNotices({ changes, localClock, log, timings, onNotice }: NoticeParts): Notices {
  const waiting = new Map<string, Set<() => void>>();
  const listeners = new Set<(id: string) => void>();

  function wake(id: string): void {
    const woken =
      id === '*' ? [...waiting.values()].flatMap((wakers) => [...wakers]) : [...(waiting.get(id) ?? [])];
    for (const waker of woken) waker();
  }

  function tell(id: string): void {
    wake(id);
    for (const listener of [...listeners]) {
      try {
        listener(id);
      } catch (error) {
        log('vault_listener_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      }
    }
  }

  const leave = changes.subscribe((notice) => {
    onNotice(notice);
    if (notice.topic === 'credentials') tell(notice.id);
  });

  return {
    async publish(id) {
      try {
        const published = changes.publish({ topic: 'credentials', id });
        await within(localClock, timings.sharedMs, published, () => {
          throw new Error('no answer in time');
        });
      } catch (error) {
        log('vault_publish_failed', { reason: error instanceof Error ? error.name : 'unknown' });
        // Others find out within their staleness; this process knows already.
        onNotice({ topic: 'credentials', id });
        tell(id);
      }
    },
    heard(id, mostMs) {
      return new Promise((resolve) => {
        const wakers = waiting.get(id) ?? new Set();
        waiting.set(id, wakers);
        let cancel: Cancel = () => undefined;
        const done = () => {
          cancel();
          wakers.delete(done);
          if (wakers.size === 0 && waiting.get(id) === wakers) waiting.delete(id);
          resolve();
        };
        wakers.add(done);
        cancel = localClock.timer(mostMs, done, { hold: true });
      });
    },
    wakeAll: () => wake('*'),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      leave();
      listeners.clear();
    },
  };
}
