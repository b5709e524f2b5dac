import { type ErrorCode, parseUrl } from '@behalf/contracts';
import type { Clock } from '@behalf/kernel';
import type { ServerSnapshot } from '../servers/definition.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { UpstreamError, UpstreamReason } from '../upstream/upstreamError.ts';
import type { BreakerProbe, BreakerSubject, Breakers } from './breakers.ts';
import type { ConnectionLimits } from './connectionManager.ts';
import type { ConnectionHolder } from './lease.ts';
import { revisionKey, tenantServerKey } from './revisions.ts';

/** Who wants to go where. Without a holder everybody shares the connection. */
export interface ConnectionRequest {
  readonly server: ServerSnapshot;
  readonly target: UpstreamTarget;
  readonly holder: ConnectionHolder | undefined;
}

/** Held only by a caller that probes. */
export interface HalfOpenPermit {
  readonly transport: BreakerProbe | undefined;
  readonly credential: BreakerProbe | undefined;
}

/** Both breakers of a passage: the road to the server, and the server's patience with this principal. */
export interface BreakerGuard {
  /** Throws `breaker_open`. */
  admit(request: ConnectionRequest, bypassesBreaker: boolean): HalfOpenPermit | undefined;
  /** Throws as `enter` does, and enters nothing. */
  check(request: ConnectionRequest): void;
  recordResult(request: ConnectionRequest, phase: ConnectionPhase, failure: UpstreamError | undefined): void;
  /** The caller is done, whatever it found: if it found nothing, the next one may probe. */
  release(request: ConnectionRequest, permit: HalfOpenPermit): void;
}

interface BreakerGuardParts {
  readonly transport: Breakers;
  readonly credential: Breakers;
  readonly failures: Pick<ConnectionFailures, 'record' | 'clear'>;
}

export function createBreakerGuard({ transport, credential, failures }: BreakerGuardParts): BreakerGuard {
  /** Over HTTP a conversation outlives the server: only a request shows that nobody is there any more, or again. */
  function recordUse(
    { server, holder }: ConnectionRequest,
    transportSignal: BreakerSignal,
    failure: UpstreamError | undefined,
  ): void {
    if (transportSignal === 'good') failures.clear(revisionKey(server), holder?.principal);
    // One that ended by itself is opened anew by the next call.
    else if (transportSignal === 'bad' && failure && failure.reason !== 'ended') {
      failures.record(revisionKey(server), holder?.principal, failure, true);
    }
  }

  const guard: BreakerGuard = {
    admit(request, bypassesBreaker) {
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
    },
    check(request) {
      const permit = guard.admit(request, false);
      if (permit) guard.release(request, permit);
    },
    recordResult(request, phase, failure) {
      const transportSignal = toTransportSignal(failure, phase);
      if (phase === 'use') recordUse(request, transportSignal, failure);
      if (!failure && transport.isEmpty && credential.isEmpty) return;
      recordSignal(transport, transportSubject(request), transportSignal, failure);
      const subject = credentialSubject(request);
      if (!subject || canRenewToken(request, failure)) return;
      recordSignal(credential, subject, toCredentialSignal(failure, phase), failure);
    },
    release(request, permit) {
      if (permit.transport) transport.releaseProbe(transportSubject(request), permit.transport);
      const subject = credentialSubject(request);
      if (subject && permit.credential) credential.releaseProbe(subject, permit.credential);
    },
  };
  return guard;
}

/**
 * Who is refused with a token of the user gets another. That a few calls were refused together with the one that was
 * revoked says nothing of the next, and must not stop it. That the other one is refused as well says enough.
 */
function canRenewToken({ target, holder }: ConnectionRequest, failure: UpstreamError | undefined): boolean {
  if (failure?.reason !== 'unauthorized' || target.type === 'stdio' || !target.bearer) return false;
  const presented = holder?.target ?? target;
  return presented.type !== 'stdio' && presented.bearer?.hasRenewed() !== true;
}

function recordSignal(
  breakers: Breakers,
  subject: BreakerSubject,
  signal: BreakerSignal,
  failure: UpstreamError | undefined,
): void {
  if (signal === 'good') breakers.recordSuccess(subject);
  else if (signal === 'bad' && failure) breakers.recordFailure(subject, failure);
}

/** Per origin, because a definition may lead to several. */
function transportSubject({ server, target, holder }: ConnectionRequest): BreakerSubject {
  const key = revisionKey(server);
  if (target.type !== 'stdio') {
    return { key: JSON.stringify([key, parseOrigin(target.url)]), server: key };
  }
  // A child process is its user's own: one that dies of a user's bad value says nothing of the others' children.
  const principal = holder?.principal;
  return { key: JSON.stringify([key, 'stdio', principal ?? null]), server: key, principal };
}

/** Whoever asks about a breaker must not fail over an address that leads nowhere: opening it does. */
function parseOrigin(url: string): string | null {
  return parseUrl(url)?.origin ?? null;
}

function credentialSubject({ server, holder }: ConnectionRequest): BreakerSubject | undefined {
  if (!holder) return undefined;
  const { principal, binding } = holder;
  const key = tenantServerKey(server);
  return { key: JSON.stringify([key, principal]), server: key, principal, binding };
}

/** What the end of an opening or of a use says about the road there, or about the credential. */
type BreakerSignal = 'good' | 'bad' | 'none';

/** `opening`: the handshake. `use`: a request on a connection that stood. */
type ConnectionPhase = 'opening' | 'use';

/** Nothing got there. */
const notSentReasons: ReadonlySet<UpstreamReason> = new Set(['connect_failed', 'connect_timeout', 'ended']);

/**
 * It got there, and then the server hung up or fell silent. In a handshake that is a dead server; in a call it may be
 * what one user's input does to a server that is well for all others, or a slow tool.
 */
const interruptedReasons: ReadonlySet<UpstreamReason> = new Set(['reset', 'timeout']);

/** Says nothing of the road: our own refusals, a token that was not there, a stream that broke while a tool ran, a 5xx. */
const neutralReasons: ReadonlySet<UpstreamReason> = new Set([
  'stream_broken',
  'upstream_5xx',
  'not_allowed',
  'too_many',
  'breaker_open',
  'token_timeout',
  'bearer_unsupported',
]);

/** Whether the server can be reached. Any answer proves it, an error or a refusal as well as a result. */
export function toTransportSignal(failure: UpstreamError | undefined, phase: ConnectionPhase): BreakerSignal {
  if (!failure) return 'good';
  const { reason, detail } = failure;
  if (notSentReasons.has(reason) || interruptedReasons.has(reason)) {
    if (phase === 'use' && interruptedReasons.has(reason)) return 'none';
    // Who answers is there. One user's junk may provoke a 5xx in a handshake, which must not shut the others out.
    return detail.status === undefined ? 'bad' : 'none';
  }
  return neutralReasons.has(reason) ? 'none' : 'good';
}

/**
 * Whether the server takes this credential. A handshake proves nothing: many servers let anybody in and refuse the
 * first call. A scope that is missing is one tool's matter.
 */
function toCredentialSignal(failure: UpstreamError | undefined, phase: ConnectionPhase): BreakerSignal {
  if (failure?.reason === 'unauthorized' || failure?.reason === 'forbidden') return 'bad';
  if (phase === 'opening') return 'none';
  return failure === undefined || failure.reason === 'rpc_error' ? 'good' : 'none';
}

interface ConnectionFailure {
  readonly server: string;
  readonly principal: string | undefined;
  readonly code: ErrorCode;
  /** When the first one was after which nothing went well. */
  readonly since: number;
  /** Of the latest one. */
  readonly lastFailureAt: number;
  /** Nobody was there: what is open still leads nowhere either. */
  readonly isUnreachable: boolean;
}

/** Why a connection could not be opened, or led nowhere, last time; for whoever asks how it stands. */
export interface ConnectionFailures {
  record(server: string, principal: string | undefined, failure: UpstreamError, isUnreachable: boolean): void;
  clear(server: string, principal: string | undefined): void;
  find(server: string, principal: string | undefined): ConnectionFailure | undefined;
  list(): Iterable<ConnectionFailure>;
  sweep(): void;
}

export function createConnectionFailures(clock: Clock, limits: ConnectionLimits): ConnectionFailures {
  const failures = new Map<string, ConnectionFailure>();
  const keyOf = (server: string, principal: string | undefined) =>
    JSON.stringify([server, principal ?? null]);

  return {
    record(server, principal, { code }, isUnreachable) {
      const key = keyOf(server, principal);
      const lastFailureAt = clock.now();
      const since = failures.get(key)?.since ?? lastFailureAt;
      failures.delete(key);
      if (failures.size >= limits.maxEntries) failures.delete(failures.keys().next().value as string);
      failures.set(key, { server, principal, code, since, lastFailureAt, isUnreachable });
    },
    clear: (server, principal) => void (failures.size > 0 && failures.delete(keyOf(server, principal))),
    find: (server, principal) => failures.get(keyOf(server, principal)),
    list: () => failures.values(),
    sweep() {
      const cutoff = clock.now() - limits.idleTimeoutMs;
      for (const [key, { lastFailureAt }] of failures) if (lastFailureAt < cutoff) failures.delete(key);
    },
  };
}
