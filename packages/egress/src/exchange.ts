import { setMaxListeners } from 'node:events';
import { abortReason, type Cancel, type Clock } from '@behalf/kernel';
import { EgressError } from './errors.ts';
import type { Timeouts } from './limits.ts';

/** One request with its redirects and its body: the clock and the caller's signal can end it at any time. */
export interface Exchange {
  readonly signal: AbortSignal;
  /** A request goes to `host` now: the wait for its headers begins. */
  awaitHeaders(host: string): void;
  /** Headers have come: from now on silence is measured, and for anything but a stream the total time. */
  receive(stream: boolean): void;
  /** A chunk has come. */
  progress(): void;
  fail(error: Error): void;
  end(): void;
}

export function createExchange(
  clock: Clock,
  timeouts: Timeouts,
  caller: AbortSignal | null | undefined,
): Exchange {
  const controller = new AbortController();
  const startedAt = clock.now();
  let host = '';
  let lastByteAt = startedAt;
  let cancel: Cancel = () => undefined;

  const fail = (error: Error) => {
    end();
    controller.abort(error);
  };
  const onAbort = () => fail(abortReason(caller as AbortSignal));
  const end = () => {
    cancel();
    caller?.removeEventListener('abort', onAbort);
  };
  const late = (reason: 'headers_timeout' | 'total_timeout' | 'idle_timeout', ms: number) =>
    fail(new EgressError(reason, host, { detail: `${ms} ms`, requestSent: true }));

  // One timer at a time, set again only when it fires early: a chunk costs a clock reading and no timer.
  const watch = (stream: boolean) => {
    const now = clock.now();
    const idleLeft = lastByteAt + timeouts.idleMs - now;
    const totalLeft = stream ? Infinity : startedAt + timeouts.totalMs - now;
    if (totalLeft <= 0) {
      late('total_timeout', timeouts.totalMs);
      return;
    }
    if (idleLeft <= 0) {
      late('idle_timeout', timeouts.idleMs);
      return;
    }
    cancel = clock.timer(Math.min(idleLeft, totalLeft), () => watch(stream));
  };

  // One signal may stand for a connection that carries many requests; each takes its listener off at its end.
  if (caller) setMaxListeners(0, caller);
  if (caller?.aborted === true) onAbort();
  else caller?.addEventListener('abort', onAbort, { once: true });

  return {
    signal: controller.signal,
    awaitHeaders(next) {
      host = next;
      cancel();
      const totalLeft = startedAt + timeouts.totalMs - clock.now();
      cancel =
        totalLeft < timeouts.headersMs
          ? clock.timer(Math.max(0, totalLeft), () => late('total_timeout', timeouts.totalMs))
          : clock.timer(timeouts.headersMs, () => late('headers_timeout', timeouts.headersMs));
    },
    receive(stream) {
      cancel();
      lastByteAt = clock.now();
      watch(stream);
    },
    progress() {
      lastByteAt = clock.now();
    },
    fail,
    end,
  };
}
