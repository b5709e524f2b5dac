import type { Duplex } from 'node:stream';

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
  /** A tunnel through a proxy that already leads there: TLS is spoken over it and nothing is opened. */
  over?: Duplex;
}

/** Opens a connection. A part, so that address tests record instead of dialling. */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Duplex>;

/** Resolves a name to addresses. A part, so that tests decide what DNS says. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;
