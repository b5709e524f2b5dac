import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Clock, Dial, Fetch, Keyring, Resolve, Send } from '@behalf/kernel';
import { createGuardedConnect } from './guardedConnect.ts';
import { createDestinationResolver, readUrl } from './target.ts';
import { createGuardedFetch } from './guardedFetch.ts';
import {
  type GuardedRequest,
  type HopCounter,
  createGuardedRequest,
  createHopCounter,
} from './guardedRequest.ts';
import { createGuardedSend } from './guardedSend.ts';
import { type Audience, type CheckedTarget, type OwnEndpoints, createTargetCheck } from './targetCheck.ts';
import { defaultLimits, defaultTimeouts, type Limits, type Timeouts } from './httpExchange.ts';
import { compilePolicy, type EgressSettings } from './policy.ts';
import { createPools, type PoolScope } from './pools.ts';
import { compileProxySelector, type ProxyEnvironment } from './proxy.ts';

export interface EgressParts {
  resolve: Resolve;
  dial: Dial;
  clock: Clock;
  /** Encrypts the hop count. */
  keyring: Keyring;
  settings: EgressSettings;
  /** Called for each new connection, because the listening port is known only after the start. */
  ownEndpoints: () => OwnEndpoints;
  env: ProxyEnvironment;
}

/** The audience, policy options and limits of outgoing requests. */
export interface FetchOptions {
  audience: Audience;
  /**
   * `refuse` for endpoints where a redirect would leak a credential, such as token endpoints. Default: follow 307
   * and 308.
   */
  redirects?: 'follow' | 'refuse';
  /** The proxy from the server's definition. Never from user data. */
  proxy?: string | undefined;
  /**
   * PEM certificates of the only trusted authorities, also for redirect targets. The public authorities are then
   * not trusted, because any of them could issue a certificate for this name. Text without a certificate trusts no
   * authority. Never from user data.
   */
  ca?: string | undefined;
  /**
   * The result of `readHopCount` for the inbound request. On a connection that serves many requests, pass the
   * inbound `x-behalf-hop` header with each call instead. It is read, incremented and replaced.
   */
  hop?: number;
  timeouts?: Partial<Timeouts>;
  limits?: Partial<Limits>;
}

export interface Egress {
  /** A fetch with the WHATWG interface that enforces the policy. Throws EgressPolicyError if the proxy is malformed. */
  fetchFor(options: FetchOptions): Fetch;
  /** The same guards, limits and errors without WHATWG objects, for the hot path. */
  sendFor(options: FetchOptions): Send;
  /** Runs the target check only and returns the checked addresses. */
  checkTarget(url: string | URL, audience: Audience): Promise<CheckedTarget>;
  /** Opens a checked socket for protocols other than HTTP requests, such as a WebSocket upgrade. */
  connect(url: string | URL, options: FetchOptions, signal: AbortSignal): Promise<Duplex>;
  readHopCount: HopCounter['read'];
  /** Waits for requests in progress (5 s by default), then closes all sockets. */
  close(graceMs?: number): Promise<void>;
}

/**
 * The only way to reach the network (SSRF guard). Invariants:
 * - Each connection passes the target check, and connects only to an address that was checked (no DNS rebinding).
 * - A redirect to another origin loses all exemptions and every header outside an allow-list.
 * - Response sizes, event sizes and times are limited.
 * - Errors name the host only, never the path, query, header values or body.
 * Settings are compiled once. A reload creates a new egress and closes the old one.
 */
export function createEgress(parts: EgressParts): Egress {
  const { clock, dial, resolve } = parts;
  const policy = compilePolicy(parts.settings);
  const selectProxyFor = compileProxySelector(parts.env);
  const checkTarget = createTargetCheck({ resolve, policy, ownEndpoints: parts.ownEndpoints });
  const connect = createGuardedConnect({ checkTarget, resolve, dial, clock });
  const pools = createPools({ connect, clock });
  const hopCounter = createHopCounter(parts.keyring);
  const resolveDestination = createDestinationResolver();

  function poolScopeOf({ audience, proxy, ca, timeouts }: FetchOptions, hasExemptions: boolean): PoolScope {
    const connectMs = timeouts?.connectMs ?? defaultTimeouts.connectMs;
    const caHash = ca === undefined ? null : createHash('sha256').update(ca).digest('base64url');
    const key = JSON.stringify([audience, hasExemptions, proxy ?? null, caHash, connectMs]);
    return {
      key,
      audience,
      hasExemptions,
      connectMs,
      ca,
      proxyFor: selectProxyFor({ audience, configuredProxy: proxy }),
    };
  }

  function createRequest(options: FetchOptions): GuardedRequest {
    return createGuardedRequest(
      { pools, hopCounter, clock },
      {
        scope: poolScopeOf(options, true),
        redirectScope: poolScopeOf(options, false),
        redirects: options.redirects ?? 'follow',
        hop: options.hop ?? 0,
        timeouts: { ...defaultTimeouts, ...options.timeouts },
        limits: { ...defaultLimits, ...options.limits },
      },
    );
  }

  return {
    fetchFor: (options) => createGuardedFetch(createRequest(options)),
    sendFor: (options) => createGuardedSend(createRequest(options), resolveDestination),
    checkTarget: async (url, audience) => checkTarget(readUrl(url), { audience }),
    connect: async (url, options, signal) => connect(readUrl(url), poolScopeOf(options, true), signal),
    readHopCount: (value) => hopCounter.read(value),
    close: (graceMs = 5_000) => pools.close(graceMs),
  };
}
