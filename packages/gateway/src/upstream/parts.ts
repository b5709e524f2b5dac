import type { Duplex } from 'node:stream';
import type { Clock, Fetch, Random, Send } from '@behalf/kernel';
import type { RemoteTarget } from './target.ts';
import type { ReadNetworkError } from './upstreamError.ts';

/** The door out, as this folder needs it. Every request and every socket passes the guard for the target's audience. */
export interface Network {
  sendTo(target: RemoteTarget): Send;
  fetchTo(target: RemoteTarget): Fetch;
  connectTo(target: RemoteTarget, signal: AbortSignal): Promise<Duplex>;
  readError: ReadNetworkError;
}

/** What the operator should read. Never a value of a header, an argument or an answer. */
export type Log = (event: string, fields: Readonly<Record<string, string | number | boolean>>) => void;

export interface UpstreamParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Our own version, as told to servers. */
  readonly version: string;
  readonly network: Network;
  readonly log: Log;
  /** A line that a child process wrote to stderr. */
  readonly onStderr: (server: string, line: string) => void;
  /** `process.kill`; a negative id names a group. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
}
