import { parseUrl } from '@behalf/contracts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { UpstreamError } from '../upstream/upstreamError.ts';
import type { BreakerSubject, Breakers, BreakerProbe } from './breakers.ts';
import {
  toCredentialSignal,
  toTransportSignal,
  type BreakerSignal,
  type ConnectionPhase,
} from './breakerSignal.ts';
import type { ConnectionHolder } from './connectionHolder.ts';
import type { ConnectionFailures } from './connectionFailures.ts';
import { revisionKey, tenantServerKey } from './connectionKeys.ts';

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

export interface BreakerGuardParts {
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
export function transportSubject({ server, target, holder }: ConnectionRequest): BreakerSubject {
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
