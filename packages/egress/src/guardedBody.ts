import type { Readable } from 'node:stream';
import { abortReason } from '@behalf/kernel';
import type { BodyGuard } from './bodyGuard.ts';
import { connectionError } from './errors.ts';
import type { Exchange } from './exchange.ts';

/** A response body that is read once, either whole or as a stream, through its guard. */
export interface GuardedBody {
  bytes(): Promise<Buffer>;
  stream(): ReadableStream<Uint8Array>;
}

interface Sink {
  chunk(chunk: Buffer): void;
  end(): void;
  fail(error: Error): void;
}

export function createGuardedBody(
  host: string,
  source: Readable,
  guard: BodyGuard,
  exchange: Exchange,
): GuardedBody {
  /** Returns what stops the flow without an outcome. */
  function pour(sink: Sink): () => void {
    let open = true;
    const close = (outcome: () => void) => {
      if (!open) return;
      open = false;
      outcome();
    };
    const broken = (error: unknown) => {
      const { signal } = exchange;
      close(() => sink.fail(signal.aborted ? abortReason(signal) : connectionError(error, host, true)));
    };
    const stop = () => close(() => undefined);
    if (source.destroyed) {
      broken(source.errored);
      return stop;
    }
    source.on('error', broken);
    source.on('close', () => broken(undefined));
    source.on('end', () => close(() => sink.end()));
    source.on('data', (chunk: Buffer) => {
      if (!open) return;
      exchange.progress();
      const breach = guard(chunk);
      if (breach === undefined) {
        sink.chunk(chunk);
        return;
      }
      close(() => sink.fail(breach));
      exchange.fail(breach);
    });
    return stop;
  }

  return {
    bytes: () =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        pour({
          chunk: (chunk) => chunks.push(chunk),
          end: () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
          fail: reject,
        });
      }),
    stream() {
      let stop: () => void = () => undefined;
      return new ReadableStream<Uint8Array>({
        start(controller) {
          stop = pour({
            chunk(chunk) {
              controller.enqueue(chunk);
              if ((controller.desiredSize ?? 0) <= 0) source.pause();
            },
            end: () => controller.close(),
            fail: (error) => controller.error(error),
          });
        },
        pull: () => void source.resume(),
        cancel() {
          stop();
          source.destroy();
        },
      });
    },
  };
}
