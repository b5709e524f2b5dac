import type { Duplex } from 'node:stream';
import type { Cancellation } from './cancellation.ts';

/** The shape of WHATWG fetch that Behalf's parts need; egress supplies the guarded one. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** An address already judged by the guard: the literal bytes that will be dialled, never a name. */
export interface DialTarget {
  /** The IP literal to dial. */
  address: string;
  port: number;
  /** The name the caller asked for: TLS server name and certificate check. */
  servername: string;
  tls: boolean;
  /** PEM certificates: the only authorities that count for it. Undefined: the public ones. */
  ca?: string | undefined;
  /** A tunnel through a proxy that already leads there: TLS is spoken over it and nothing is opened. */
  tunnel?: Duplex;
}

/** Opens a connection. A part, so that address tests record instead of dialling. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/** Resolves a name to addresses. A part, so that tests decide what DNS says. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** One HTTP request on the hot path. Header names are lower case. */
export interface SendRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborting it ends the exchange, body included. */
  readonly signal: Cancellation;
}

/** Its answer. Exactly one of `text`, `chunks` and `discard` is used. */
export interface SendResponse {
  readonly status: number;
  /** By lower-case name; several values joined with a comma. */
  header(name: string): string | undefined;
  readonly isEventStream: boolean;
  text(): Promise<string>;
  chunks(): AsyncIterable<Uint8Array>;
  /**
   * Nobody reads the rest; a short one is drained so that its socket lives on. Resolves when the exchange is over, which
   * takes a moment at most; never rejects.
   */
  discard(): Promise<void>;
}

/**
 * The same door as `Fetch` without the platform's machinery, which costs more than the rest of a tool call. Guards,
 * limits and errors are the same.
 */
export type Send = (request: SendRequest) => Promise<SendResponse>;

/** The text of a body of at most so many bytes. Undefined: there is none, or it is larger; no more of it is read then. */
export async function readBoundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  if (!body) return undefined;
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(chunks).toString('utf8');
    bytes += value.byteLength;
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
}
