import { createSingleFlight } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import type { Attempt } from './attempt.ts';
import { lastOr, questionOf, type Course, type Step } from './course.ts';
import { judge } from './judge.ts';
import type { Notices } from './notices.ts';
import type { Reading } from './reading.ts';
import type { Snapshots } from './snapshots.ts';
import type { Turns } from './turns.ts';
import type { TokenOutcome } from './vault.ts';
import type { VaultTools } from './vaultParts.ts';

export interface RenewalParts extends Pick<
  VaultTools,
  'clock' | 'localClock' | 'random' | 'log' | 'timings'
> {
  readonly attempt: Attempt;
  readonly turns: Turns;
  readonly reading: Reading;
  readonly snapshots: Snapshots;
  readonly notices: Notices;
  readonly isClosing: () => boolean;
}

export interface Renewal {
  /** One for all who ask in this process, whoever of them stays. Another token than the refused one, or why not. */
  renew(key: CredentialKey, refused?: string): Promise<TokenOutcome>;
  /** The same, where nobody waits for it: gives way to everybody. */
  renewEarly(key: CredentialKey): Promise<TokenOutcome>;
  /** What can be said while the store does not answer. */
  withoutStore(key: CredentialKey, refused?: string): TokenOutcome;
  /** How many are under way. */
  readonly size: number;
  idle(): Promise<void>;
}

/** Others' writes make us look again; nobody writes this often. */
const MOST_ROUNDS = 12;
/** A flight that was under way may have ended with the very token that was refused. */
const MOST_FLIGHTS = 3;

export function createRenewal(parts: RenewalParts): Renewal {
  const { clock, localClock, random, log, timings } = parts;
  const { attempt, turns, reading, snapshots, notices, isClosing } = parts;
  const flights = createSingleFlight<TokenOutcome>();

  function withoutStore(key: CredentialKey, refused?: string): TokenOutcome {
    const view = snapshots.bearable(credentialId(key));
    const verdict = view && judge(view, { refused, now: clock.now() }, timings);
    if (verdict?.kind === 'outcome' && verdict.outcome.kind === 'token') return verdict.outcome;
    if (verdict?.kind === 'renew' && verdict.last) return { kind: 'token', token: verdict.last };
    return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
  }

  /** It is another's turn. */
  async function lookOn(course: Course): Promise<Step> {
    const verdict = judge(await reading.anew(course.key), questionOf(course, clock.now()), timings);
    return verdict.kind === 'outcome' ? verdict : { kind: 'busy' };
  }

  async function step(course: Course): Promise<Step> {
    const turn = await turns.take(course.id);
    if (!turn) return lookOn(course);
    try {
      return await attempt(course);
    } finally {
      await turn.end();
    }
  }

  /** Whoever waited in vain sends nothing: the holder may still be about to store what it got. */
  async function giveUp(course: Course, reason: 'refresh_busy' | 'closing'): Promise<TokenOutcome> {
    const verdict = judge(await reading.anew(course.key), questionOf(course, clock.now()), timings);
    if (verdict.kind === 'outcome') return verdict.outcome;
    const busy = { kind: 'unavailable', reason, retryAfterMs: timings.backoffMs } as const;
    const last = lastOr(verdict.last, busy);
    return last.kind === 'outcome' ? last.outcome : busy;
  }

  async function run(course: Course): Promise<TokenOutcome> {
    const endsAt = localClock.now() + timings.waitMs;
    for (let rounds = 0; ; rounds += 1) {
      if (isClosing()) return giveUp(course, 'closing');
      const next = await step(course);
      if (next.kind === 'outcome') return next.outcome;
      const isOver = course.isEarly || localClock.now() >= endsAt;
      if (next.kind === 'busy' ? isOver : rounds >= MOST_ROUNDS) return giveUp(course, 'refresh_busy');
      if (next.kind === 'busy') {
        rounds = 0;
        await notices.heard(course.id, timings.pollMs);
      } else if (next.afterMs > 0) await notices.heard(course.id, next.afterMs);
    }
  }

  async function fly(
    key: CredentialKey,
    refused: string | undefined,
    isEarly: boolean,
  ): Promise<TokenOutcome> {
    const id = credentialId(key);
    const course = {
      key,
      id,
      owner: random.id(),
      refused,
      isEarly,
      hasRetried: false,
      hasRediscovered: false,
    };
    try {
      return await run(course);
    } catch (error) {
      log('vault_store_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return withoutStore(key, refused);
    }
  }

  return {
    withoutStore,
    async renew(key, refused) {
      const id = credentialId(key);
      let outcome: TokenOutcome | undefined;
      for (let tries = 0; tries < MOST_FLIGHTS; tries += 1) {
        outcome = await flights.run([id], () => fly(key, refused, false), { detached: true });
        if (outcome.kind !== 'token' || outcome.token.accessToken !== refused) return outcome;
      }
      return { kind: 'unavailable', reason: 'refresh_busy', retryAfterMs: timings.backoffMs };
    },
    renewEarly: (key) =>
      flights.run([credentialId(key), 'early'], () => fly(key, undefined, true), { detached: true }),
    get size() {
      return flights.size;
    },
    idle: () => flights.idle(),
  };
}
