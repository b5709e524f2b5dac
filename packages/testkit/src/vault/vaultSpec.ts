import { type Clock, systemClock } from '@behalf/kernel';
import type { GrantedTokens } from '../oauth/authorizationServer.ts';

/** The stores of a child process: SQLite in `dataDir`, or MongoDB with Redis. */
export interface VaultStores {
  readonly dataDir: string;
  readonly mongoUri?: string;
  readonly redis?: { readonly uri: string; readonly prefix: string };
}

/** The configuration of a child process. */
export interface VaultSpec {
  readonly stores: VaultStores;
  /** 64 hex digits. */
  readonly sealingKey: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string;
  readonly clientId: string;
  /** The MCP server that the tokens are for. */
  readonly resource: string;
  /** Loopback ports that the process may contact. */
  readonly ports: readonly number[];
  readonly rotationGraceMs: number;
  /** Timings that differ from the production values. */
  readonly timings: Readonly<Record<string, number>>;
  /** Clock skew of the process. Requires a store with its own clock. */
  readonly skewMs: number;
  /** How far the test's clock is ahead of the system clock. */
  readonly aheadMs: number;
}

export interface CallsCommand {
  /** Each user makes `calls` concurrent calls. */
  readonly users: readonly string[];
  readonly callsPerUser: number;
  /** Delays each call by a random time up to this. Default: no delay. */
  readonly spreadMs?: number;
}

export interface CallsReport {
  readonly succeeded: number;
  /** Failed calls by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Calls that the server attributed to another user. */
  readonly wrongUser: number;
}

interface GrantCommand {
  readonly user: string;
  readonly tokens: GrantedTokens;
  /** By the clock of the test. */
  readonly sentAt: number;
  /** 0 for the first generation. */
  readonly baseGeneration: number;
}

/** The commands of the child process. */
export interface VaultCommands {
  commit(order: GrantCommand): Promise<{ kind: string; generation: number }>;
  calls(order: CallsCommand): Promise<CallsReport>;
  /** Requests a token and returns the outcome without it: `token`, or kind and reason. */
  token(user: string): Promise<string>;
  status(user: string): Promise<VaultStatus | null>;
  /** Holds all further token requests before they are sent. */
  holdSends(): Promise<void>;
  releaseSends(): Promise<void>;
  /** The number of held requests. */
  heldSends(): Promise<number>;
  /** Makes storing received tokens fail from now on. */
  failSaves(): Promise<void>;
  /** Sets how far the test's clock is ahead. */
  setAhead(ms: number): Promise<void>;
}

export interface VaultStatus {
  readonly status: string;
  readonly reason: string | null;
  readonly generation: number;
  readonly fingerprint: string | null;
}

/** The clock of a test, or of a process with skew. */
interface RigClock extends Clock {
  /** Sets how far it is ahead of the system clock. */
  setAhead(ms: number): void;
}

/** The time can jump; timers run in real time, because processes wait for each other. */
export function createRigClock(aheadMs: number, skewMs = 0): RigClock {
  let currentAheadMs = aheadMs;
  return {
    now: () => systemClock.now() + currentAheadMs + skewMs,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    setAhead: (ms) => void (currentAheadMs = ms),
  };
}
