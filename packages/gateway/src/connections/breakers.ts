import { type ErrorCode, parseUrl } from '@behalf/contracts';
import { type Clock, LruMap } from '@behalf/kernel';
import { UpstreamError, type UpstreamReason } from '../upstream/upstreamError.ts';
import type { ConnectionLimits } from './connectionManager.ts';
import { type ConnectionRequest, revisionKey, tenantServerKey } from './lease.ts';

/*
 * Circuit breakers and the signals that open and close them.
 *
 * - The transport breaker is keyed by (server revision, origin): failures there affect all users.
 * - The credential breaker is keyed by (principal, server): a rejected credential never blocks another user.
 * - Errors of tools count for neither.
 */

/** Two subjects with the same key share a breaker. */
interface BreakerSubject {
  readonly key: string;
  readonly server: string;
  /** Undefined if the breaker affects all users. */
  readonly principal?: string | undefined;
  /** The credential that failed. Another credential starts with a closed breaker. */
  readonly binding?: string | undefined;
}

/** The right of one caller to test whether an open breaker can close. */
interface BreakerProbe {
  readonly startedAt: number;
}

/** A breaker that counts failures. It is open while `retryAt` is set. */
interface Breaker {
  readonly subject: BreakerSubject;
  /** Time of the first of the consecutive failures. */
  readonly since: number;
  failures: number;
  /** How often the breaker opened in a row. Determines the back-off. */
  trips: number;
  retryAt: number | undefined;
  probe: BreakerProbe | undefined;
  cause: UpstreamError;
  lastFailureAt: number;
}

/** `Retry-After` of callers that arrive while another caller probes. */
const PROBE_RETRY_AFTER_MS = 1_000;

/** Only failing subjects have an entry, so that healthy servers and users cost nothing. */
function createBreakers(clock: Clock, limits: ConnectionLimits) {
  const entries = new LruMap<string, Breaker>(limits.maxEntries);

  function findEntry({ key, binding }: BreakerSubject): Breaker | undefined {
    const entry = entries.peek(key);
    if (!entry || entry.subject.binding === binding) return entry;
    entries.delete(key);
    return undefined;
  }

  const createOpenError = ({ cause }: Breaker, retryAfterMs: number) =>
    new UpstreamError('breaker_open', { retryAfterMs, cause });

  return {
    /** True if nothing failed recently. The warm path then skips building keys. */
    get isEmpty() {
      return entries.size === 0;
    },
    /** Throws `breaker_open`, or admits the caller. After the back-off the first caller is admitted as the probe. */
    admit(subject: BreakerSubject, bypassesBreaker: boolean): BreakerProbe | undefined {
      const entry = findEntry(subject);
      if (entry?.retryAt === undefined) return undefined;
      const now = clock.now();
      if (now < entry.retryAt) {
        if (bypassesBreaker) return undefined;
        throw createOpenError(entry, entry.retryAt - now);
      }
      // A probe that hangs blocks other callers for a limited time only.
      if (entry.probe && now - entry.probe.startedAt < limits.breakerBaseMs) {
        if (bypassesBreaker) return undefined;
        throw createOpenError(entry, PROBE_RETRY_AFTER_MS);
      }
      entry.probe = { startedAt: now };
      return entry.probe;
    },
    /** Ends a probe without a result: the next caller may probe. */
    releaseProbe({ key }: BreakerSubject, probe: BreakerProbe): void {
      const entry = entries.peek(key);
      if (entry?.probe === probe) entry.probe = undefined;
    },
    recordSuccess(subject: BreakerSubject): void {
      if (findEntry(subject)) entries.delete(subject.key);
    },
    recordFailure(subject: BreakerSubject, cause: UpstreamError): void {
      const now = clock.now();
      let entry = findEntry(subject);
      if (!entry) {
        const initialState = { failures: 0, trips: 0, retryAt: undefined, probe: undefined };
        entry = { subject, ...initialState, cause, since: now, lastFailureAt: now };
        entries.set(subject.key, entry);
      }
      entry.failures += 1;
      entry.cause = cause;
      entry.lastFailureAt = now;
      // Failures during the back-off, such as late results and explicit attempts of one user, do not extend it.
      if (entry.retryAt === undefined ? entry.failures >= limits.breakerThreshold : now >= entry.retryAt) {
        entry.retryAt = now + Math.min(limits.breakerBaseMs * 2 ** entry.trips, limits.breakerMaxMs);
        entry.trips += 1;
        entry.probe = undefined;
      }
    },
    /** The open breaker of this server that affects this principal; of several the one that stays open longest. */
    findOpen(server: string, principal: string | undefined) {
      let found: { retryAt: number; since: number; cause: UpstreamError } | undefined;
      for (const [, { subject, retryAt, since, cause }] of entries) {
        if (retryAt === undefined || subject.server !== server) continue;
        if (subject.principal !== undefined && subject.principal !== principal) continue;
        if (!found || retryAt > found.retryAt) found = { retryAt, since, cause };
      }
      return found;
    },
    list: () => [...entries].map(([, entry]) => entry),
    get openCount() {
      let count = 0;
      for (const [, { retryAt }] of entries) if (retryAt !== undefined) count += 1;
      return count;
    },
    sweep(): void {
      const cutoff = clock.now() - 2 * limits.breakerMaxMs;
      for (const [key, entry] of entries)
        if (entry.lastFailureAt < cutoff && !entry.probe) entries.delete(key);
    },
  };
}

interface ConnectionFailure {
  readonly server: string;
  readonly principal: string | undefined;
  readonly code: ErrorCode;
  /** Time of the first failure since the last success. */
  readonly since: number;
  readonly lastFailureAt: number;
  /** The server was unreachable, so that open connections do not work either. */
  readonly isUnreachable: boolean;
}

/** The last failure of each server and principal, for status displays. */
function createConnectionFailures(clock: Clock, limits: ConnectionLimits) {
  const failures = new LruMap<string, ConnectionFailure>(limits.maxEntries);
  const keyOf = (server: string, principal: string | undefined) =>
    JSON.stringify([server, principal ?? null]);

  return {
    record(server: string, principal: string | undefined, code: ErrorCode, isUnreachable: boolean): void {
      const key = keyOf(server, principal);
      const lastFailureAt = clock.now();
      const since = failures.peek(key)?.since ?? lastFailureAt;
      failures.set(key, { server, principal, code, since, lastFailureAt, isUnreachable });
    },
    clear(server: string, principal: string | undefined): void {
      if (failures.size > 0) failures.delete(keyOf(server, principal));
    },
    find: (server: string, principal: string | undefined) => failures.peek(keyOf(server, principal)),
    list: () => [...failures].map(([, failure]) => failure),
    sweep(): void {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const [key, { lastFailureAt }] of failures) if (lastFailureAt < cutoff) failures.delete(key);
    },
  };
}

/** `opening`: connecting and the handshake. `use`: a request on an open connection. */
type ConnectionPhase = 'opening' | 'use';

/** The probes of one admitted caller. Callers that do not probe have none. */
export interface HalfOpenPermit {
  readonly transport: BreakerProbe | undefined;
  readonly credential: BreakerProbe | undefined;
}

export type BreakerGuard = ReturnType<typeof createBreakerGuard>;

/** Both breakers of a request and the record of its failures. */
export function createBreakerGuard(clock: Clock, limits: ConnectionLimits) {
  const transport = createBreakers(clock, limits);
  const credential = createBreakers(clock, limits);
  const failures = createConnectionFailures(clock, limits);

  function recordForStatus(
    { server, holder }: ConnectionRequest,
    phase: ConnectionPhase,
    signal: BreakerSignal,
    failure: UpstreamError | undefined,
  ): void {
    const principal = holder?.principal;
    if (!failure) failures.clear(revisionKey(server), principal);
    else if (phase === 'opening')
      failures.record(revisionKey(server), principal, failure.code, signal === 'bad');
    // Over HTTP a connection outlives an outage of its server. Only requests show that the server is gone or back.
    else if (signal === 'good') failures.clear(revisionKey(server), principal);
    // The next call reopens a connection that ended.
    else if (signal === 'bad' && failure.reason !== 'ended')
      failures.record(revisionKey(server), principal, failure.code, true);
  }

  function admit(request: ConnectionRequest, bypassesBreaker: boolean): HalfOpenPermit | undefined {
    if (transport.isEmpty && credential.isEmpty) return undefined;
    const transportProbe = transport.admit(transportSubject(request), bypassesBreaker);
    const subject = credentialSubject(request);
    let credentialProbe: BreakerProbe | undefined;
    try {
      credentialProbe = subject && credential.admit(subject, bypassesBreaker);
    } catch (error) {
      if (transportProbe) transport.releaseProbe(transportSubject(request), transportProbe);
      throw error;
    }
    return transportProbe || credentialProbe
      ? { transport: transportProbe, credential: credentialProbe }
      : undefined;
  }

  function release(request: ConnectionRequest, permit: HalfOpenPermit): void {
    if (permit.transport) transport.releaseProbe(transportSubject(request), permit.transport);
    const subject = credentialSubject(request);
    if (subject && permit.credential) credential.releaseProbe(subject, permit.credential);
  }

  return {
    transport,
    credential,
    failures,
    /** Throws `breaker_open`, or admits the caller. The caller must release the returned permit. */
    admit,
    /** Throws like `admit`, but starts no probe. */
    check(request: ConnectionRequest): void {
      const permit = admit(request, false);
      if (permit) release(request, permit);
    },
    recordResult(
      request: ConnectionRequest,
      phase: ConnectionPhase,
      failure: UpstreamError | undefined,
    ): void {
      const transportSignal = toTransportSignal(failure, phase);
      recordForStatus(request, phase, transportSignal, failure);
      if (!failure && transport.isEmpty && credential.isEmpty) return;
      recordSignal(transport, transportSubject(request), transportSignal, failure);
      const subject = credentialSubject(request);
      if (!subject || canRenewToken(request, failure)) return;
      recordSignal(credential, subject, toCredentialSignal(failure, phase), failure);
    },
    /** Ends the probes of a permit. A probe without a result lets the next caller probe. */
    release,
    sweep(): void {
      for (const part of [transport, credential, failures]) part.sweep();
    },
  };
}

/**
 * After a 401 the call renews the user's token and retries. Several calls may be rejected with the same revoked token;
 * that must not open the breaker. A rejection of the renewed token counts.
 */
function canRenewToken({ target, holder }: ConnectionRequest, failure: UpstreamError | undefined): boolean {
  if (failure?.reason !== 'unauthorized' || target.type === 'stdio' || !target.bearer) return false;
  const presented = holder?.target ?? target;
  return presented.type !== 'stdio' && presented.bearer?.hasRenewed() !== true;
}

function recordSignal(
  breakers: ReturnType<typeof createBreakers>,
  subject: BreakerSubject,
  signal: BreakerSignal,
  failure: UpstreamError | undefined,
): void {
  if (signal === 'good') breakers.recordSuccess(subject);
  else if (signal === 'bad' && failure) breakers.recordFailure(subject, failure);
}

/** Keyed by origin as well, because placeholders can make one definition point to several hosts. */
function transportSubject({ server, target, holder }: ConnectionRequest): BreakerSubject {
  const key = revisionKey(server);
  if (target.type !== 'stdio') {
    // An invalid URL has no origin. Opening the connection reports it.
    return { key: JSON.stringify([key, parseUrl(target.url)?.origin ?? null]), server: key };
  }
  // A child process belongs to one user. A crash caused by one user's values says nothing about other processes.
  const principal = holder?.principal;
  return { key: JSON.stringify([key, 'stdio', principal ?? null]), server: key, principal };
}

function credentialSubject({ server, holder }: ConnectionRequest): BreakerSubject | undefined {
  if (!holder) return undefined;
  const { principal, binding } = holder;
  const key = tenantServerKey(server);
  return { key: JSON.stringify([key, principal]), server: key, principal, binding };
}

/** Effect of a result on a breaker. `none`: the result says nothing about the transport or the credential. */
type BreakerSignal = 'good' | 'bad' | 'none';

/** The request did not reach the server. */
const notSentReasons: ReadonlySet<UpstreamReason> = new Set(['connect_failed', 'connect_timeout', 'ended']);

/**
 * The server received the request, then disconnected or stopped responding. During a handshake this means a broken
 * server. During a call one user's input or a slow tool can cause it.
 */
const interruptedReasons: ReadonlySet<UpstreamReason> = new Set(['reset', 'timeout']);

/** The gateway refused the request, had no token, lost the stream while a tool ran, or received a 5xx. */
const neutralReasons: ReadonlySet<UpstreamReason> = new Set([
  'stream_broken',
  'upstream_5xx',
  'not_allowed',
  'too_many',
  'breaker_open',
  'token_timeout',
  'bearer_unsupported',
]);

/** Any response proves that the server is reachable, including errors and refusals. */
function toTransportSignal(failure: UpstreamError | undefined, phase: ConnectionPhase): BreakerSignal {
  if (!failure) return 'good';
  const { reason, detail } = failure;
  if (notSentReasons.has(reason) || interruptedReasons.has(reason)) {
    if (phase === 'use' && interruptedReasons.has(reason)) return 'none';
    // A status proves that the server responded. A 5xx that one user's input provokes must not block other users.
    return detail.status === undefined ? 'bad' : 'none';
  }
  return neutralReasons.has(reason) ? 'none' : 'good';
}

/**
 * A successful handshake proves nothing about the credential: many servers accept any handshake and reject the first
 * call. `insufficient_scope` concerns a single tool and is neutral.
 */
function toCredentialSignal(failure: UpstreamError | undefined, phase: ConnectionPhase): BreakerSignal {
  if (failure?.reason === 'unauthorized' || failure?.reason === 'forbidden') return 'bad';
  if (phase === 'opening') return 'none';
  return failure === undefined || failure.reason === 'rpc_error' ? 'good' : 'none';
}
