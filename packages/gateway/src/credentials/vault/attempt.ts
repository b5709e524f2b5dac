import type { RenewApp } from './appRenewal.ts';
import type { Claimed, CredentialRecord } from '../../ports/index.ts';
import { provableClient } from '../oauth/grantContext.ts';
import type { OAuthClient } from '../oauth/oauthClient.ts';
import { requestTokens } from '../oauth/tokenEndpoint.ts';
import type { TokenAnswer } from '../oauth/tokenAnswer.ts';
import { lastOr, lookAgain, questionOf, type Course, type Step } from './course.ts';
import { heldToken, skewOf } from './heldToken.ts';
import { isInGrace, judge } from './judge.ts';
import type { KeepPair, Kept } from './keepPair.ts';
import type { Notices } from './notices.ts';
import type { OrphanPairs } from './orphanPairs.ts';
import type { Received } from './pair.ts';
import type { Reading } from './reading.ts';
import { stillDoubted, type RefusedRefresh, type SentRefresh } from './refusedRefresh.ts';
import { nothingYet, type Setbacks } from './setbacks.ts';
import type { VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

export interface AttemptParts extends Pick<
  VaultTools,
  'store' | 'clock' | 'localClock' | 'random' | 'readError' | 'log' | 'record' | 'timings'
> {
  readonly reading: Reading;
  readonly setbacks: Setbacks;
  readonly refused: RefusedRefresh;
  readonly keepPair: KeepPair;
  readonly orphanPairs: OrphanPairs;
  readonly notices: Notices;
  /** Asks for another token of our own: no refresh token, so nothing can be lost. */
  readonly renewApp: RenewApp;
  /** Told what was stored. */
  readonly onRenewed: (record: CredentialRecord) => void;
}

/** One attempt to renew, at our turn: look, claim, send, store, tell. Rejects when the store does not answer. */
export type Attempt = (course: Course) => Promise<Step>;

export function createAttempt(parts: AttemptParts): Attempt {
  const { store, clock, localClock, random, readError, log, record: tell, timings } = parts;
  const { reading, setbacks, refused, keepPair, orphanPairs, notices, renewApp, onRenewed } = parts;

  async function send(sent: SentRefresh, claimedAt: number): Promise<TokenAnswer | 'late'> {
    const { view, claimed } = sent;
    const { issuer, resource } = claimed.record;
    const { context, tokens } = view;
    if (!context || !tokens?.endpoints || !tokens.refreshToken)
      return { kind: 'misconfigured', error: 'grant_incomplete' };
    let client: OAuthClient;
    try {
      client = await provableClient(context);
    } catch {
      return { kind: 'unavailable' };
    }
    const { resource: _, ...form } = context.form;
    const sending = { isLate: false };
    const answer = await requestTokens({
      endpoint: tokens.endpoints.token,
      ...{ issuer, client, headers: context.headers, fetch: context.fetch },
      form: {
        ...form,
        // As it was sent for the grant, whatever is configured by now.
        ...(resource !== null && { resource }),
        grant_type: 'refresh_token',
        refresh_token: tokens.refreshToken.reveal(),
      },
      ...{ readError, clock, random, timeoutMs: timings.postMs },
      prover: tokens.prover,
      maySend() {
        // Who was stopped since the claim may find another's there by now.
        sending.isLate = localClock.now() - claimedAt >= timings.sendWithinMs;
        return !sending.isLate;
      },
    });
    return sending.isLate ? 'late' : answer;
  }

  async function received({ course, view, claimed }: SentRefresh, pair: Received): Promise<Step> {
    const { tokens: before, context } = view;
    if (!before) return lookAgain;
    if (pair.tokens.isRefreshTokenUnusable)
      log('vault.refresh_token_unusable', { server: course.key.serverId });
    const kept = await keepPair.keep(
      { consumed: claimed.record, before, context, received: pair },
      course.owner,
    );
    if (kept.kind === 'saved' || kept.kind === 'aside') return finish(course, view, kept, 'ok');
    tell({ kind: 'refresh', credential: course.key, outcome: 'superseded' });
    return lookAgain;
  }

  async function finish(
    course: Course,
    view: CredentialView,
    { kind, record, tokens }: Extract<Kept, { kind: 'saved' | 'aside' }>,
    outcome: 'ok' | 'adopted',
  ): Promise<Step> {
    setbacks.clear(course.id);
    tell({ kind: 'refresh', credential: course.key, outcome });
    onRenewed(record);
    // Nobody else has it yet.
    if (kind === 'aside') reading.learn({ ...view, record, tokens });
    else await notices.publish(course.id);
    // However short it lives: it is the newest there is.
    const token = heldToken(record, tokens, skewOf(record.lifetimeMs, timings));
    return { kind: 'outcome', outcome: { kind: 'token', token } };
  }

  /** What a process received and could not store. Null: there is none. */
  async function takeUp({ course, view, claimed }: SentRefresh): Promise<Step | null> {
    if (keepPair.held(claimed.record)) {
      await keepPair.storeNow(course.id);
      return lookAgain;
    }
    const orphan = await orphanPairs.find(claimed.record);
    if (!orphan || !view.tokens) return null;
    const { received, sealed } = orphan;
    const kept = await keepPair.keep(
      { consumed: claimed.record, before: view.tokens, context: view.context, received },
      course.owner,
    );
    if (kept.kind === 'aside') return lookAgain;
    await orphanPairs.remove(course.id, sealed).catch(() => undefined);
    if (kept.kind !== 'saved') return lookAgain;
    log('vault_orphan_adopted', { server: course.key.serverId });
    await finish(course, view, kept, 'adopted');
    // It may have ended meanwhile; then it is renewed as any other.
    return lookAgain;
  }

  async function doubted(sent: SentRefresh): Promise<Step | null> {
    const { view, claimed, last, doubtedSince } = sent;
    let step: Step | null;
    try {
      step = await takeUp(sent);
    } catch {
      // The successor may lie where we cannot look: sending its predecessor would end them both.
      await refused.release(claimed, stillDoubted(sent)).catch(() => null);
      return lastOr(last, { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs });
    }
    if (step) return step;
    if (!last || isInGrace(view.context, doubtedSince, clock.now())) return null;
    await refused.release(claimed, stillDoubted(sent));
    return lastOr(last, { kind: 'token', token: last });
  }

  async function refresh(sent: SentRefresh, claimedAt: number): Promise<Step> {
    if (sent.isInDoubt) {
      const step = await doubted(sent);
      if (step) return step;
    }
    const answer = await send(sent, claimedAt);
    if (answer === 'late') {
      await refused.release(sent.claimed, sent.isInDoubt ? stillDoubted(sent) : {});
      return lookAgain;
    }
    if (answer.kind !== 'tokens') return refused.settle(sent, answer);
    return received(sent, { ...answer, isInDoubt: sent.isInDoubt });
  }

  return async (course) => {
    const lookedAt = clock.now();
    const view = await reading.anew(course.key);
    const verdict = judge(view, questionOf(course, clock.now()), timings);
    if (verdict.kind === 'outcome') return verdict;
    // What this process holds comes first: its predecessor is not sent again.
    if (await keepPair.storeNow(course.id)) return lookAgain;
    const { record } = view;
    const standing = setbacks.standing(record ?? nothingYet(course.id));
    if (standing) return lastOr(verdict.last, standing);
    if (course.key.kind === 'client_credentials') return renewApp(course, view, verdict.last);
    if (!record || record.rtHash === null) return lookAgain;
    const claimedAt = localClock.now();
    const claimed = await claim(course, record, record.rtHash);
    if (!claimed) return { kind: 'busy' };
    // As it was when it became ours: another may have sent it since we looked, and left it in doubt.
    const { rtSuspect, statusAt } = claimed.record;
    const isInDoubt = claimed.tookOver || rtSuspect;
    const doubtedSince = rtSuspect ? statusAt : (record.claimStartedAt ?? lookedAt);
    return refresh({ course, view, claimed, last: verdict.last, isInDoubt, doubtedSince }, claimedAt);
  };

  function claim(
    { owner }: Course,
    { id, generation, tokenSeq }: CredentialRecord,
    rtHash: string,
  ): Promise<Claimed | null> {
    return store.claim(id, { generation, rtHash, tokenSeq, owner, ttlMs: timings.claimMs });
  }
}
