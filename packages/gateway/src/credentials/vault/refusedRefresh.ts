import type { Claimed, CredentialPatch, CredentialRecord } from '../../ports/index.ts';
import type { TokenAnswer } from '../oauth/tokenAnswer.ts';
import { lastOr, lookAgain, type Course, type Step } from './course.ts';
import { EARLY_REFUSED } from './heldToken.ts';
import { isInGrace } from './judge.ts';
import type { Notices } from './notices.ts';
import { sealAnew } from './openTokens.ts';
import { IN_DOUBT, settled } from './pair.ts';
import type { Setbacks } from './setbacks.ts';
import type { HeldToken } from './vault.ts';
import type { RefreshOutcome, VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

/** A refresh that was sent, or about to be. */
export interface SentRefresh {
  readonly course: Course;
  readonly view: CredentialView;
  readonly claimed: Claimed;
  /** What may still be used if it fails. */
  readonly last: HeldToken | undefined;
  readonly isInDoubt: boolean;
  /** When the doubt arose. */
  readonly doubtedSince: number;
}

export type Refusal = Exclude<TokenAnswer, { kind: 'tokens' }>;

export interface RefusedRefresh {
  /** What follows from an answer without tokens. */
  settle(sent: SentRefresh, answer: Refusal): Promise<Step>;
  /** Gives a claim back; null when it is not ours any more. Rejects when the store does not answer. */
  release(claimed: Claimed, patch?: CredentialPatch): Promise<CredentialRecord | null>;
}

export interface RefusedRefreshParts extends Pick<
  VaultTools,
  'store' | 'keyring' | 'clock' | 'random' | 'log' | 'record' | 'timings'
> {
  readonly setbacks: Setbacks;
  readonly notices: Notices;
}

export function createRefusedRefresh(parts: RefusedRefreshParts): RefusedRefresh {
  const { store, keyring, clock, random, log, record: tell, timings, setbacks, notices } = parts;

  /**
   * By the claim, so that a late loser condemns nothing that somebody else is renewing by now.
   */
  function release({ record }: Claimed, patch: CredentialPatch = {}): Promise<CredentialRecord | null> {
    const { id, generation, rtHash, claimSeq } = record;
    return store.replace(id, { generation, rtHash, claimSeq }, { ...settled, ...patch });
  }

  /** It ends by itself where the store does not answer. */
  async function giveBack(sent: SentRefresh, patch: CredentialPatch = {}): Promise<void> {
    const doubt = sent.isInDoubt ? stillDoubted(sent) : {};
    await release(sent.claimed, { ...doubt, ...patch }).catch(() => undefined);
  }

  function told({ course }: SentRefresh, outcome: RefreshOutcome): void {
    tell({ kind: 'refresh', credential: course.key, outcome });
  }

  function pause(): Step {
    return { kind: 'again', afterMs: timings.backoffMs * (0.5 + random.uniform() / 2) };
  }

  async function condemn(sent: SentRefresh, reason: 'rejected' | 'lost_rotation'): Promise<Step> {
    const { course, claimed, last } = sent;
    const patch = { status: 'rejected', reason, statusAt: clock.now() } as const;
    let condemned: CredentialRecord | null;
    try {
      condemned = await release(claimed, patch);
    } catch {
      // Nobody knows but us: it is not sent again all the time until the store answers.
      const away = { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs } as const;
      return lastOr(last, setbacks.stand(claimed.record, away));
    }
    // Another pair is stored, or another is at it: nothing is condemned.
    if (!condemned) return lookAgain;
    told(sent, reason);
    tell({ kind: 'sign_in_needed', credential: course.key, reason });
    if (reason === 'lost_rotation') log('vault.lost_rotation', { server: course.key.serverId });
    await notices.publish(course.id);
    return lastOr(last, { kind: 'needs_reauth', reason, credentialId: course.id });
  }

  async function rejected(sent: SentRefresh): Promise<Step> {
    const { course, last, isInDoubt } = sent;
    if (isInDoubt) return condemn(sent, 'lost_rotation');
    if (!course.isEarly || !last) return condemn(sent, 'rejected');
    // Some do not renew a token that still lives. It is asked again when there is nothing left to lose.
    told(sent, 'early_refused');
    await giveBack(sent, { reason: EARLY_REFUSED });
    return lastOr(last, { kind: 'token', token: last });
  }

  async function clientRefused(sent: SentRefresh, error: string): Promise<Step> {
    const { course, view, claimed, last } = sent;
    told(sent, 'client_refused');
    if (view.context?.client.source === 'dynamic') {
      await store
        .extendClaim(course.id, claimed.record.claimSeq, course.owner, timings.claimMs)
        .catch(() => false);
      // What the old client was given is lost with it.
      if (await view.context.reregister().catch(() => false)) return condemn(sent, 'rejected');
    }
    await giveBack(sent);
    log('vault.client_refused', { server: course.key.serverId, error });
    return lastOr(last, setbacks.stand(claimed.record, { kind: 'misconfigured', error }));
  }

  async function moved(sent: SentRefresh, status: number): Promise<Step> {
    const { course, view, claimed, last } = sent;
    await giveBack(sent);
    told(sent, 'moved');
    const found = course.hasRediscovered ? null : await view.context?.rediscover().catch(() => null);
    course.hasRediscovered = true;
    const { record, tokens } = view;
    if (found && record && tokens && found.token !== tokens.endpoints?.token) {
      const { id, generation, rtHash, tokenSeq } = record;
      const patch = sealAnew(keyring, record, { ...tokens, endpoints: found });
      await store.replace(id, { generation, rtHash, tokenSeq }, patch);
      return lookAgain;
    }
    log('vault.token_endpoint_gone', { server: course.key.serverId, status });
    return lastOr(last, setbacks.away(claimed.record));
  }

  /** Nothing was consumed. */
  async function unavailable(sent: SentRefresh, retryAfterMs: number | undefined): Promise<Step> {
    const { course, claimed, last } = sent;
    await giveBack(sent);
    told(sent, 'unavailable');
    if (retryAfterMs === undefined && !course.hasRetried && !last) {
      course.hasRetried = true;
      return pause();
    }
    return lastOr(last, setbacks.away(claimed.record, retryAfterMs));
  }

  /** It may have been consumed: then the only one that lives was in the answer that is lost. */
  async function inDoubt(sent: SentRefresh): Promise<Step> {
    const { course, view, claimed, last } = sent;
    await giveBack(sent, stillDoubted(sent));
    told(sent, 'in_doubt');
    const isForgiven = isInGrace(view.context, sent.doubtedSince, clock.now());
    if (!course.hasRetried && (!last || isForgiven)) {
      course.hasRetried = true;
      return pause();
    }
    return lastOr(last, setbacks.away(claimed.record));
  }

  return {
    release,
    async settle(sent, answer) {
      const { course, claimed, last } = sent;
      switch (answer.kind) {
        case 'rejected':
          return rejected(sent);
        case 'client_refused':
          return clientRefused(sent, answer.error);
        case 'moved':
          return moved(sent, answer.status);
        case 'unavailable':
          return unavailable(sent, answer.retryAfterMs);
        case 'in_doubt':
          return inDoubt(sent);
        case 'user_needed': {
          await giveBack(sent);
          told(sent, 'user_needed');
          const { claims } = answer;
          const needs = {
            kind: 'needs_reauth',
            reason: 'interaction_required',
            credentialId: course.id,
            claims,
          } as const;
          return lastOr(last, setbacks.stand(claimed.record, needs));
        }
        case 'misconfigured':
          await giveBack(sent);
          told(sent, 'misconfigured');
          log('vault.misconfigured', { server: course.key.serverId, error: answer.error });
          return lastOr(last, setbacks.stand(claimed.record, { kind: 'misconfigured', error: answer.error }));
        case 'unintelligible':
          await giveBack(sent);
          told(sent, 'unintelligible');
          return lastOr(last, setbacks.away(claimed.record));
      }
    },
  };
}

/** The next one who looks must know, and since when. */
export function stillDoubted({ doubtedSince }: Pick<SentRefresh, 'doubtedSince'>): CredentialPatch {
  return { rtSuspect: true, reason: IN_DOUBT, statusAt: doubtedSince };
}
