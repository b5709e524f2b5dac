import { abortReason, type Cancellation, type HiddenText } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import { credentialId, type Claimed, type CredentialKey } from '../../ports/index.ts';
import type { Discards } from './discards.ts';
import type { Exclusively } from './exclusive.ts';
import { judge } from './judge.ts';
import type { KeepPair } from './keepPair.ts';
import type { Notices } from './notices.ts';
import type { OpenTokens } from './openTokens.ts';
import type { Reading } from './reading.ts';
import { stillDoubted, type RefusedRefresh } from './refusedRefresh.ts';
import type { Renewal } from './renewal.ts';
import type { Lend, LendOutcome, Lent, Returned, TokenOutcome } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

export interface LendParts extends Pick<VaultTools, 'store' | 'clock' | 'localClock' | 'random' | 'timings'> {
  readonly reading: Reading;
  readonly renewal: Pick<Renewal, 'renew'>;
  readonly refused: Pick<RefusedRefresh, 'release'>;
  readonly keepPair: KeepPair;
  readonly notices: Notices;
  readonly discards: Pick<Discards, 'behind'>;
  readonly exclusively: Exclusively;
  readonly isClosing: () => boolean;
}

/** Others' writes make us look again; nobody writes this often. */
const MOST_ROUNDS = 12;

/** A refresh token that is ours alone for a moment. */
interface Held {
  readonly view: CredentialView;
  readonly tokens: OpenTokens;
  readonly refreshToken: HiddenText;
  readonly claimed: Claimed;
  readonly claimedAt: number;
  readonly owner: string;
}

type Lacking = Exclude<TokenOutcome, { kind: 'token' }>;

/**
 * Lets a refresh token be used for something else than a refresh, under the claim that a refresh takes: whoever sends it, nobody else
 * does meanwhile, and none is sent that another has taken the place of.
 */
export function createLend(parts: LendParts): Lend {
  const { store, clock, localClock, random, timings } = parts;
  const { reading, renewal, refused, keepPair, notices, discards, exclusively, isClosing } = parts;

  const busy = (reason: 'refresh_busy' | 'closing'): Lacking => ({
    ...{ kind: 'unavailable', reason, retryAfterMs: timings.backoffMs },
  });

  /** Ours, or why it cannot be. */
  async function hold(key: CredentialKey, signal: Cancellation): Promise<Held | Lacking> {
    const id = credentialId(key);
    const endsAt = localClock.now() + timings.waitMs;
    let isProven = false;
    for (let rounds = 0; rounds < MOST_ROUNDS; rounds += 1) {
      if (isClosing()) return busy('closing');
      throwIfLeft(signal);
      const view = await reading.anew(key);
      const usable = usableOf(view);
      if ('kind' in usable) return usable;
      // What this process received and could not store comes first: its predecessor is not sent again.
      if (await keepPair.storeNow(id)) continue;
      const { record, tokens, refreshToken } = usable;
      const { generation, tokenSeq, rtHash } = record;
      const owner = random.id();
      const claimedAt = localClock.now();
      const wish = { generation, tokenSeq, rtHash, owner, ttlMs: timings.claimMs };
      const claimed = await store.claim(id, wish);
      if (!claimed) {
        if (localClock.now() >= endsAt) return busy('refresh_busy');
        rounds = 0;
        await notices.heard(id, timings.pollMs);
        continue;
      }
      const { rtSuspect, statusAt } = claimed.record;
      if (!claimed.tookOver && (!rtSuspect || isProven)) {
        return { view, tokens, refreshToken, claimed, claimedAt, owner };
      }
      // Whoever sent it last may have lost the one that followed: a refresh finds out, and only then is it of use to anybody.
      const doubtedSince = rtSuspect ? statusAt : (record.claimStartedAt ?? clock.now());
      await refused.release(claimed, stillDoubted({ doubtedSince }));
      const renewed = await renewal.renew(key, tokens.accessToken);
      if (renewed.kind !== 'token') return renewed;
      isProven = true;
    }
    return busy('refresh_busy');
  }

  function usableOf(view: CredentialView) {
    const verdict = judge(view, { now: clock.now() }, timings);
    if (verdict.kind === 'outcome' && verdict.outcome.kind !== 'token') return verdict.outcome;
    const { record, tokens, fit } = view;
    const refreshToken = tokens?.refreshToken;
    // The access token may live on: that does not bring the refresh token back.
    if (!record || !tokens || !refreshToken || record.rtHash === null) return over('expired_no_refresh');
    if (record.status !== 'active' || fit !== 'fits') return over('rejected');
    return { record: { ...record, rtHash: record.rtHash }, tokens, refreshToken };
  }

  function lentOf(
    { view, tokens, refreshToken, claimedAt }: Held,
    signal: Cancellation,
    onTaken: () => void,
  ): Lent {
    return {
      clientId: view.record?.clientId ?? '',
      endpoint: tokens.endpoints?.token ?? '',
      take() {
        // Who was stopped since the claim may find another's there by now.
        if (localClock.now() - claimedAt >= timings.sendWithinMs) throw new LentTooLate();
        // Nothing would be sent, and it would be in doubt for it.
        throwIfLeft(signal);
        onTaken();
        return refreshToken;
      },
    };
  }

  async function use<T>(
    held: Held,
    signal: Cancellation,
    work: (lent: Lent) => Promise<Returned<T>>,
  ): Promise<Returned<T> | 'ended'> {
    const { view, tokens, claimed, owner } = held;
    let isTaken = false;
    const giveBack = (isInDoubt: boolean) =>
      // It ends by itself where the store does not answer.
      refused
        .release(claimed, isInDoubt ? stillDoubted({ doubtedSince: clock.now() }) : {})
        .catch(() => undefined);
    let returned: Returned<T>;
    try {
      returned = await work(lentOf(held, signal, () => (isTaken = true)));
    } catch (error) {
      await giveBack(isTaken);
      throw error;
    }
    const { successor, isInDoubt = false } = returned;
    if (successor === undefined || successor === held.refreshToken.reveal()) {
      await giveBack(isInDoubt);
      return returned;
    }
    const { record } = claimed;
    const received = {
      tokens: {
        // Everything else is as it was, its time as well.
        ...{ accessToken: tokens.accessToken, tokenType: tokens.tokenType, refreshToken: successor },
        expiresInS: record.lifetimeMs === null ? null : record.lifetimeMs / 1_000,
      },
      ...{ sentAt: record.issuedAt, isInDoubt: false },
    };
    const pair = { consumed: record, before: tokens, context: view.context, received };
    const kept = await keepPair.keep(pair, owner);
    if (kept.kind === 'aside') reading.learn({ ...view, record: kept.record, tokens: kept.tokens });
    else await notices.publish(record.id);
    // Whoever signed out meanwhile has nothing more to give.
    return kept.kind === 'superseded' ? 'ended' : returned;
  }

  async function once<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: (lent: Lent) => Promise<Returned<T>>,
  ): Promise<LendOutcome<T>> {
    const held = await hold(key, signal);
    if ('kind' in held) return held;
    const returned = await use(held, signal, work);
    return returned === 'ended' ? over('revoked') : { kind: 'used', value: returned.value };
  }

  async function inLine<T>(
    key: CredentialKey,
    signal: Cancellation,
    work: (lent: Lent) => Promise<Returned<T>>,
  ): Promise<LendOutcome<T>> {
    try {
      return await exclusively(key, signal, () => once(key, signal, work));
    } catch (error) {
      if (error instanceof LentTooLate || error instanceof GatewayError) return busy('refresh_busy');
      throw error;
    }
  }

  return (key, signal, work) => {
    const lent = inLine(key, signal, work);
    // Who waits for it may leave; what was taken is settled before the process ends.
    discards.behind(lent);
    return lent;
  };
}

function throwIfLeft(signal: Cancellation): void {
  if (signal.aborted) throw abortReason(signal);
}

/** Nothing was sent. */
class LentTooLate extends Error {
  override readonly name = 'LentTooLate';
}

function over(reason: 'expired_no_refresh' | 'rejected' | 'revoked'): Lacking {
  return { kind: 'needs_reauth', reason };
}
