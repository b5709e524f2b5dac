import { parseUrl } from '@behalf/contracts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { UpstreamTarget } from '../upstream/target.ts';
import type { UpstreamError } from '../upstream/upstreamError.ts';
import type { BreakerSubject, Breakers, Probe } from './breakers.ts';
import { credentialEvidence, transportEvidence, type Evidence, type Phase } from './evidence.ts';
import type { Holder } from './holder.ts';
import type { OpenFailures } from './openFailures.ts';
import { revisionKey, serverKey } from './serverKey.ts';

/** Who wants to go where. Without a holder everybody shares the connection. */
export interface Passage {
  readonly server: ServerSnapshot;
  readonly target: UpstreamTarget;
  readonly holder: Holder | undefined;
}

/** Held only by a caller that probes. */
export interface Pass {
  readonly transport: Probe | undefined;
  readonly credential: Probe | undefined;
}

/** Both breakers of a passage: the road to the server, and the server's patience with this principal. */
export interface Gate {
  /** Throws `breaker_open`. */
  enter(passage: Passage, explicit: boolean): Pass | undefined;
  /** Throws as `enter` does, and enters nothing. */
  check(passage: Passage): void;
  report(passage: Passage, phase: Phase, failure: UpstreamError | undefined): void;
  /** The caller is done, whatever it found: if it found nothing, the next one may probe. */
  leave(passage: Passage, pass: Pass): void;
}

export interface GateParts {
  readonly transport: Breakers;
  readonly credential: Breakers;
  readonly failures: Pick<OpenFailures, 'note' | 'clear'>;
}

export function createGate({ transport, credential, failures }: GateParts): Gate {
  /** Over HTTP a conversation outlives the server: only a request shows that nobody is there any more, or again. */
  function rememberUse(
    { server, holder }: Passage,
    road: Evidence,
    failure: UpstreamError | undefined,
  ): void {
    if (road === 'good') failures.clear(revisionKey(server), holder?.principal);
    // One that ended by itself is opened anew by the next call.
    else if (road === 'bad' && failure && failure.reason !== 'ended') {
      failures.note(revisionKey(server), holder?.principal, failure, true);
    }
  }

  const gate: Gate = {
    enter(passage, explicit) {
      if (transport.quiet && credential.quiet) return undefined;
      const road = transport.enter(transportSubject(passage), explicit);
      const subject = credentialSubject(passage);
      let patience: Probe | undefined;
      try {
        patience = subject && credential.enter(subject, explicit);
      } catch (error) {
        if (road) transport.leave(transportSubject(passage), road);
        throw error;
      }
      return road || patience ? { transport: road, credential: patience } : undefined;
    },
    check(passage) {
      const pass = gate.enter(passage, false);
      if (pass) gate.leave(passage, pass);
    },
    report(passage, phase, failure) {
      const road = transportEvidence(failure, phase);
      if (phase === 'use') rememberUse(passage, road, failure);
      if (!failure && transport.quiet && credential.quiet) return;
      tell(transport, transportSubject(passage), road, failure);
      const subject = credentialSubject(passage);
      if (!subject || isRenewable(passage, failure)) return;
      tell(credential, subject, credentialEvidence(failure, phase), failure);
    },
    leave(passage, pass) {
      if (pass.transport) transport.leave(transportSubject(passage), pass.transport);
      const subject = credentialSubject(passage);
      if (subject && pass.credential) credential.leave(subject, pass.credential);
    },
  };
  return gate;
}

/**
 * Who is refused with a token of the user gets another. That a few calls were refused together with the one that was
 * revoked says nothing of the next, and must not stop it. That the other one is refused as well says enough.
 */
function isRenewable({ target, holder }: Passage, failure: UpstreamError | undefined): boolean {
  if (failure?.reason !== 'unauthorized' || target.type === 'stdio' || !target.bearer) return false;
  const presented = holder?.target ?? target;
  return presented.type !== 'stdio' && presented.bearer?.isRenewed() !== true;
}

function tell(
  breakers: Breakers,
  subject: BreakerSubject,
  evidence: Evidence,
  failure: UpstreamError | undefined,
): void {
  if (evidence === 'good') breakers.succeeded(subject);
  else if (evidence === 'bad' && failure) breakers.failed(subject, failure);
}

/** Per origin, because a definition may lead to several. */
export function transportSubject({ server, target, holder }: Passage): BreakerSubject {
  const key = revisionKey(server);
  if (target.type !== 'stdio') {
    return { key: JSON.stringify([key, originOf(target.url)]), server: key };
  }
  // A child process is its user's own: one that dies of a user's bad value says nothing of the others' children.
  const principal = holder?.principal;
  return { key: JSON.stringify([key, 'stdio', principal ?? null]), server: key, principal };
}

/** Whoever asks about a breaker must not fail over an address that leads nowhere: opening it does. */
function originOf(url: string): string | null {
  return parseUrl(url)?.origin ?? null;
}

function credentialSubject({ server, holder }: Passage): BreakerSubject | undefined {
  if (!holder) return undefined;
  const { principal, binding } = holder;
  const key = serverKey(server);
  return { key: JSON.stringify([key, principal]), server: key, principal, binding };
}
