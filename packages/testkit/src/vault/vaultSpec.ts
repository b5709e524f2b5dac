import { type Clock, systemClock } from '@behalf/kernel';
import type { GrantedTokens } from '../oauth/authorizationServer.ts';

/** Which stores a child process opens: SQLite beside `dataDir`, or MongoDB with Redis. */
export interface VaultStores {
  readonly dataDir: string;
  readonly mongoUri?: string;
  readonly redis?: { readonly uri: string; readonly prefix: string };
}

/** Everything a child process is told at its start. */
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
  /** Ports of 127.0.0.1 that it may reach. */
  readonly ports: readonly number[];
  readonly rotationGraceMs: number;
  /** Numbers of the chain that differ from the real ones. */
  readonly timings: Readonly<Record<string, number>>;
  /** How far its clock is off. Only where the store has one of its own. */
  readonly skewMs: number;
  /** How far time on the stage is ahead of the system's clock. */
  readonly aheadMs: number;
}

export interface CallsCommand {
  /** Each calls so many times, all at once. */
  readonly users: readonly string[];
  readonly callsPerUser: number;
  /** Each call begins after a pause of its own, up to so long. Default: at once. */
  readonly spreadMs?: number;
}

export interface CallsReport {
  readonly succeeded: number;
  /** Why the others did not, with how often. */
  readonly failures: Readonly<Record<string, number>>;
  /** Calls that the server saw as somebody else's. */
  readonly wrongUser: number;
}

interface GrantCommand {
  readonly user: string;
  readonly tokens: GrantedTokens;
  /** By the clock of the stage. */
  readonly sentAt: number;
  /** 0: it is the first one. */
  readonly baseGeneration: number;
}

/** What a child process does when told to, by name. */
export interface VaultCommands {
  commit(order: GrantCommand): Promise<{ kind: string; generation: number }>;
  calls(order: CallsCommand): Promise<CallsReport>;
  /** The outcome of asking for a token, without the token: `token`, or the kind and the reason. */
  token(user: string): Promise<string>;
  status(user: string): Promise<VaultStatus | null>;
  /** From now on token requests wait before they are sent. */
  holdSends(): Promise<void>;
  releaseSends(): Promise<void>;
  /** How many wait. */
  heldSends(): Promise<number>;
  /** From now on nothing that it has received can be stored. */
  failSaves(): Promise<void>;
  /** Time on the stage is so far ahead from now on. */
  setAhead(ms: number): Promise<void>;
}

export interface VaultStatus {
  readonly status: string;
  readonly reason: string | null;
  readonly generation: number;
  readonly fingerprint: string | null;
}

/** The clock of everybody on a stage, or of a process that is off it. */
interface RigClock extends Clock {
  /** From now on so far ahead of the system's. */
  setAhead(ms: number): void;
}

/** Time jumps, timers run as ever: what processes wait for each other is waited for in earnest. */
export function createRigClock(aheadMs: number, skewMs = 0): RigClock {
  let currentAheadMs = aheadMs;
  return {
    now: () => systemClock.now() + currentAheadMs + skewMs,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    setAhead: (ms) => void (currentAheadMs = ms),
  };
}
