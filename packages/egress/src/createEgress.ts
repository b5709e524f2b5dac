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
  /** Seals the hop count. */
  keyring: Keyring;
  settings: EgressSettings;
  /** Asked at each new connection: the listening port is known only after the start. */
  ownEndpoints: () => OwnEndpoints;
  /** Proxy variables. */
  env: ProxyEnvironment;
}

/** For whom, and with which patience, requests go out. */
export interface FetchOptions {
  audience: Audience;
  /** `refuse` where a redirect is an attack: token endpoints. Default: follow 307 and 308. */
  redirects?: 'follow' | 'refuse';
  /** The server's own proxy. Never from user data. */
  proxy?: string | undefined;
  /**
   * PEM certificates: the only authorities that count, for whomever a redirect leads to as well. The public ones do not,
   * because any of them could vouch for somebody else under the name of a server that has an authority of its own. Text
   * without a certificate trusts nobody. Never from user data.
   */
  ca?: string | undefined;
  /**
   * What `readHopCount` gave for the inbound request. On a connection that many requests share, pass the inbound
   * `x-behalf-hop` header through with each call instead: it is read, counted up and replaced.
   */
  hop?: number;
  timeouts?: Partial<Timeouts>;
  limits?: Partial<Limits>;
}

export interface Egress {
  /** A WHATWG-shaped fetch that cannot leave the policy. Throws EgressPolicyError on a malformed proxy. */
  fetchFor(options: FetchOptions): Fetch;
  /** The same without WHATWG objects, for the hot path: the same guards, limits and errors. */
  sendFor(options: FetchOptions): Send;
  /** The verdict alone, with the checked addresses. */
  checkTarget(url: string | URL, audience: Audience): Promise<CheckedTarget>;
  /** A judged and connected socket for protocols that are not HTTP requests, such as a websocket's upgrade. */
  connect(url: string | URL, options: FetchOptions, signal: AbortSignal): Promise<Duplex>;
  readHopCount: HopCounter['read'];
  /** Lets requests in the air finish for a moment (5 s unless told), then closes every socket. */
  close(graceMs?: number): Promise<void>;
}

/** The only door out. Settings are compiled once; a reload makes a new egress and closes the old one. */
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
