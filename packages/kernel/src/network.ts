import type { Duplex } from 'node:stream';
import type { Cancellation } from './cancellation.ts';

/** The part of WHATWG fetch that Behalf uses. `egress` supplies the implementation with the SSRF guard. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** An address that the SSRF guard has checked. It is an IP literal, so no second DNS lookup can change it. */
export interface DialTarget {
  /** The IP literal to dial. */
  address: string;
  port: number;
  /** The host name of the URL: the TLS server name, and the name that the certificate must match. */
  servername: string;
  tls: boolean;
  /** PEM certificates of the only trusted authorities for this target. Undefined: the public authorities. */
  ca?: string | undefined;
  /** An established proxy tunnel to the target. TLS runs over it, and no connection is opened. */
  tunnel?: Duplex;
}

/** Opens a connection. A parameter, so that tests can record addresses instead of connecting. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/** Resolves a name to addresses. A parameter, so that tests control DNS answers. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** One HTTP request on the hot path. Header names are lower case. */
export interface SendRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborting it ends the request and the response body. */
  readonly signal: Cancellation;
}

/** The response. The caller uses exactly one of `text`, `chunks` and `discard`. */
export interface SendResponse {
  readonly status: number;
  /** Takes a lower-case name. Several values are joined with a comma. */
  header(name: string): string | undefined;
  readonly isEventStream: boolean;
  text(): Promise<string>;
  chunks(): AsyncIterable<Uint8Array>;
  /**
   * Ignores the rest of the body. A short rest is read to the end, so that the socket can be reused. Resolves when the
   * response has ended or the socket is closed, after a short time at most. Never rejects.
   */
  discard(): Promise<void>;
}

/**
 * Like `Fetch`, with the same guards, limits and errors, but without the overhead of WHATWG streams and headers. That
 * overhead exceeds the cost of the rest of a tool call.
 */
export type Send = (request: SendRequest) => Promise<SendResponse>;

/** Reads a body of at most `maxBytes`. Undefined: there is no body, or it is larger. A larger body is not read to its end. */
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
