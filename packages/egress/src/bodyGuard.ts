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
const MIN_AVERAGE_CHUNK_BYTES = 16;
const MIN_CHUNK_LIMIT = 1_024;

export function createBodyGuard(host: string, { bodyBytes }: Limits): BodyGuard {
  const maxChunks = Math.max(MIN_CHUNK_LIMIT, bodyBytes / MIN_AVERAGE_CHUNK_BYTES);
  let totalBytes = 0;
  let chunkCount = 0;
  return (chunk) => {
    totalBytes += chunk.length;
    chunkCount += 1;
    return totalBytes > bodyBytes || chunkCount > maxChunks ? bodyTooLarge(host, bodyBytes) : undefined;
  };
}

export function bodyTooLarge(host: string, bodyBytes: number): EgressError {
  return new EgressError('body_too_large', host, { detail: `${bodyBytes} bytes`, requestSent: true });
}

/**
 * A stream may run for days, so its sum says nothing. What a reader must hold in memory is one line, and one event
 * until the blank line that ends it: both are capped, or endless `data:` lines would fill the heap.
 */
export function createEventStreamGuard(host: string, { sseLineBytes, bodyBytes }: Limits): BodyGuard {
  let lineBytes = 0;
  let eventBytes = 0;
  let lastWasCr = false;
  return (chunk) => {
    // Byte by byte: whatever the mix of line ends, each byte is looked at once.
    for (const byte of chunk) {
      if (byte !== LF && byte !== CR) {
        lineBytes += 1;
        eventBytes += 1;
        lastWasCr = false;
        if (lineBytes > sseLineBytes) return lineTooLarge(host, sseLineBytes);
        if (eventBytes > bodyBytes) return bodyTooLarge(host, bodyBytes);
        continue;
      }
      // LF right after CR is the second half of one line end, not a blank line.
      if (byte === CR || !lastWasCr) {
        if (lineBytes === 0) eventBytes = 0;
        lineBytes = 0;
      }
      lastWasCr = byte === CR;
    }
    return undefined;
  };
}

function lineTooLarge(host: string, sseLineBytes: number): EgressError {
  return new EgressError('sse_line_too_large', host, { detail: `${sseLineBytes} bytes`, requestSent: true });
}
