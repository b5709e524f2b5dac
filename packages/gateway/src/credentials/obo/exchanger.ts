import type { Cancellation } from '@behalf/kernel';
import type { Principal } from '../../principal/principal.ts';
import type { UserServer } from '../../registry/server.ts';
import type { ExchangedToken, ExchangeProvider, ExchangeRequest } from './exchangeProvider.ts';

/** In whose name a token is wanted, and what for: what is written down about it. */
export interface ExchangeContext {
  readonly server: UserServer;
  readonly principal: Principal;
  readonly scopes: string;
}

/** One wish for a token. */
export interface ExchangeJob {
  readonly context: ExchangeContext;
  readonly provider: ExchangeProvider;
  readonly request: ExchangeRequest;
  /** Names exactly this token: made by `exchangeKey`. */
  readonly key: string;
  /** Whose it is and what for: what is forgotten together. */
  readonly holder: {
    /** The server's; `*` for one that every tenant has. */
    readonly tenant: string;
    /** Tenant and user as one opaque key. */
    readonly principal: string;
    readonly serverId: string;
    readonly revision: string;
  };
  /** How many token requests may be made for this caller, one or two. */
  readonly maxRequests: number;
  /** Ends this caller's waiting and nothing else. */
  readonly signal: Cancellation;
}

export interface ExchangeResult {
  readonly token: ExchangedToken;
  /** Where it was found. `exchanged`: a token request was made for it, by this caller or one it joined. */
  readonly source: 'memory' | 'cache' | 'exchanged';
  /** Token requests that were made while this caller waited. */
  readonly requests: number;
}

/** Exchanged tokens: each is asked for once, by whoever comes first, and kept for as long as it may be used. */
export interface Exchanger {
  /** A usable token that is in memory; without I/O. */
  peek(key: string): ExchangedToken | undefined;
  /** Rejects with ExchangeFault or the reason of the caller's own signal. */
  obtain(job: ExchangeJob): Promise<ExchangeResult>;
  /** A new one whatever is kept. Nobody who would take a kept one joins it; it replaces what is kept. */
  force(job: ExchangeJob): Promise<ExchangeResult>;
  /** The server refused this very token. One that took its place meanwhile stays. */
  evict(key: string, token: string): Promise<void>;
  /** They signed out, or may not any more. */
  evictPrincipal(principal: string): Promise<void>;
  /** The server changed or is gone. */
  evictServer(tenant: string, serverId: string): Promise<void>;
  /** Resolves when what is under way has ended; nothing is begun after it. */
  close(): Promise<void>;
}
