import { EgressError } from './errors.ts';
import type { Limits } from './limits.ts';

/** Looks at each chunk on its way in; the error it returns ends the exchange. */
export type BodyGuard = (chunk: Uint8Array) => EgressError | undefined;

const LF = 10;
const CR = 13;

/** True for exactly this media type, whatever its parameters. A type that merely mentions it is no stream. */
export function isEventStream(contentType: string): boolean {
  const semicolon = contentType.indexOf(';');
  const essence = semicolon < 0 ? contentType : contentType.slice(0, semicolon);
  return essence.trim().toLowerCase() === 'text/event-stream';
}

/** A body may come in pieces this small on the whole; each one costs us time, whatever is in it. */
const LEAST_PIECE = 16;
const FEW_PIECES = 1_024;

export function createBodyGuard(host: string, { bodyBytes }: Limits): BodyGuard {
  const mostPieces = Math.max(FEW_PIECES, bodyBytes / LEAST_PIECE);
  let total = 0;
  let pieces = 0;
  return (chunk) => {
    total += chunk.length;
    pieces += 1;
    return total > bodyBytes || pieces > mostPieces ? tooLarge(host, bodyBytes) : undefined;
  };
}

export function tooLarge(host: string, bodyBytes: number): EgressError {
  return new EgressError('body_too_large', host, { detail: `${bodyBytes} bytes`, requestSent: true });
}

/**
 * A stream may run for days, so its sum says nothing. What a reader must hold in memory is one line, and one event
 * until the blank line that ends it: both are capped, or endless `data:` lines would fill the heap.
 */
export function createEventStreamGuard(host: string, { sseLineBytes, bodyBytes }: Limits): BodyGuard {
  let line = 0;
  let event = 0;
  let lastWasCr = false;
  return (chunk) => {
    // Byte by byte: whatever the mix of line ends, each byte is looked at once.
    for (const byte of chunk) {
      if (byte !== LF && byte !== CR) {
        line += 1;
        event += 1;
        lastWasCr = false;
        if (line > sseLineBytes) return lineTooLarge(host, sseLineBytes);
        if (event > bodyBytes) return tooLarge(host, bodyBytes);
        continue;
      }
      // LF right after CR is the second half of one line end, not a blank line.
      if (byte === CR || !lastWasCr) {
        if (line === 0) event = 0;
        line = 0;
      }
      lastWasCr = byte === CR;
    }
    return undefined;
  };
}

function lineTooLarge(host: string, sseLineBytes: number): EgressError {
  return new EgressError('sse_line_too_large', host, { detail: `${sseLineBytes} bytes`, requestSent: true });
}
