import { createHash } from 'node:crypto';
import { type Cancel, type HeldLease, createSingleFlight, withTimeout } from '@behalf/kernel';
import { type CredentialKey, type CredentialRecord, credentialId } from '../../ports/index.ts';
import { createLruMap } from '../lruMap.ts';
import { type DecisionInput, earlyRenewalAt, evaluateCredential, isInRotationGrace } from './decide.ts';
import type { ChangeBus, CredentialCache, CredentialReader, CredentialSnapshot } from './read.ts';
import type { RefreshOnce } from './refreshOnce.ts';
import type { ResolvedVaultParts, TokenOutcome, VaultToken } from './vault.ts';

/** One renewal of one credential, from its first look to its outcome. */
export interface RefreshContext {
  readonly key: CredentialKey;
  readonly id: string;
  /** Whose claim it is: nobody else's in any process. */
  readonly owner: string;
  /** The access token that a server refused. */
  readonly refusedToken: string | undefined;
  /** Nobody waits for it. */
  readonly isEarly: boolean;
  /** What may be done once was done. */
  hasRetried: boolean;
  hasRediscovered: boolean;
}

export type RefreshStep =
  | { readonly kind: 'outcome'; readonly outcome: TokenOutcome }
  /** Look anew, after a while or when something is told. */
  | { readonly kind: 'retry'; readonly afterMs: number }
  /** Somebody else is renewing it. */
  | { readonly kind: 'busy' };

export const retryNow: RefreshStep = { kind: 'retry', afterMs: 0 };

/** What still lives is better than a failure. */
export function fallbackOr(fallback: VaultToken | undefined, outcome: TokenOutcome): RefreshStep {
  return { kind: 'outcome', outcome: fallback ? { kind: 'token', token: fallback } : outcome };
}

/** What was begun is ended: who tries again does not stop because the old token would do. */
export function toDecisionInput(
  { refusedToken, isEarly, hasRetried }: RefreshContext,
  now: number,
): DecisionInput {
  return { refusedToken, isEarly: isEarly || hasRetried, now };
}

interface RenewalParts extends Pick<
  ResolvedVaultParts,
  'clock' | 'localClock' | 'random' | 'log' | 'timings'
> {
  readonly refreshOnce: RefreshOnce;
  readonly refreshLeases: RefreshLeases;
  readonly reader: CredentialReader;
  readonly credentialCache: CredentialCache;
  readonly changeBus: ChangeBus;
  readonly isClosing: () => boolean;
}

export interface Renewal {
  /** One for all who ask in this process, whoever of them stays. Another token than the refused one, or why not. */
  renew(key: CredentialKey, refusedToken?: string): Promise<TokenOutcome>;
  /** The same, where nobody waits for it: gives way to everybody. */
  renewEarly(key: CredentialKey): Promise<TokenOutcome>;
  /** What can be said while the store does not answer. */
  withoutStore(key: CredentialKey, refusedToken?: string): TokenOutcome;
  /** How many are under way. */
  readonly size: number;
  idle(): Promise<void>;
}

/** Others' writes make us look again; nobody writes this often. */
const MAX_ROUNDS = 12;
/** A flight that was under way may have ended with the very token that was refused. */
const MAX_FLIGHTS = 3;

export function createRenewal(parts: RenewalParts): Renewal {
  const { clock, localClock, random, log, timings } = parts;
  const { refreshOnce, refreshLeases, reader, credentialCache, changeBus, isClosing } = parts;
  const flights = createSingleFlight<TokenOutcome>();

  function withoutStore(key: CredentialKey, refusedToken?: string): TokenOutcome {
    const snapshot = credentialCache.getStale(credentialId(key));
    const decision = snapshot && evaluateCredential(snapshot, { refusedToken, now: clock.now() }, timings);
    if (decision?.kind === 'outcome' && decision.outcome.kind === 'token') return decision.outcome;
    if (decision?.kind === 'renew' && decision.fallback) return { kind: 'token', token: decision.fallback };
    return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
  }

  /** It is another's turn. */
  async function checkWithoutLease(refreshContext: RefreshContext): Promise<RefreshStep> {
    const decision = evaluateCredential(
      await reader.readFresh(refreshContext.key),
      toDecisionInput(refreshContext, clock.now()),
      timings,
    );
    return decision.kind === 'outcome' ? decision : { kind: 'busy' };
  }

  async function runStep(refreshContext: RefreshContext): Promise<RefreshStep> {
    const lease = await refreshLeases.tryAcquire(refreshContext.id);
    if (!lease) return checkWithoutLease(refreshContext);
    try {
      return await refreshOnce(refreshContext);
    } finally {
      await lease.release();
    }
  }

  /** Whoever waited in vain sends nothing: the holder may still be about to store what it got. */
  async function giveUp(
    refreshContext: RefreshContext,
    reason: 'refresh_busy' | 'closing',
  ): Promise<TokenOutcome> {
    const decision = evaluateCredential(
      await reader.readFresh(refreshContext.key),
      toDecisionInput(refreshContext, clock.now()),
      timings,
    );
    if (decision.kind === 'outcome') return decision.outcome;
    const busyOutcome = { kind: 'unavailable', reason, retryAfterMs: timings.backoffMs } as const;
    const fallbackStep = fallbackOr(decision.fallback, busyOutcome);
    return fallbackStep.kind === 'outcome' ? fallbackStep.outcome : busyOutcome;
  }

  async function runUntilOutcome(refreshContext: RefreshContext): Promise<TokenOutcome> {
    const deadline = localClock.now() + timings.waitMs;
    for (let round = 0; ; round += 1) {
      if (isClosing()) return giveUp(refreshContext, 'closing');
      const stepResult = await runStep(refreshContext);
      if (stepResult.kind === 'outcome') return stepResult.outcome;
      const isExpired = refreshContext.isEarly || localClock.now() >= deadline;
      if (stepResult.kind === 'busy' ? isExpired : round >= MAX_ROUNDS)
        return giveUp(refreshContext, 'refresh_busy');
      if (stepResult.kind === 'busy') {
        round = 0;
        await changeBus.waitForChange(refreshContext.id, timings.pollMs);
      } else if (stepResult.afterMs > 0) await changeBus.waitForChange(refreshContext.id, stepResult.afterMs);
    }
  }

  async function startRenewal(
    key: CredentialKey,
    refusedToken: string | undefined,
    isEarly: boolean,
  ): Promise<TokenOutcome> {
    const id = credentialId(key);
    const refreshContext = {
      key,
      id,
      owner: random.id(),
      refusedToken,
      isEarly,
      hasRetried: false,
      hasRediscovered: false,
    };
    try {
      return await runUntilOutcome(refreshContext);
    } catch (error) {
      log('vault_store_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return withoutStore(key, refusedToken);
    }
  }

  return {
    withoutStore,
    async renew(key, refusedToken) {
      const id = credentialId(key);
      let outcome: TokenOutcome | undefined;
      for (let flight = 0; flight < MAX_FLIGHTS; flight += 1) {
        outcome = await flights.run([id], () => startRenewal(key, refusedToken, false), { detached: true });
        if (outcome.kind !== 'token' || outcome.token.accessToken !== refusedToken) return outcome;
      }
      return { kind: 'unavailable', reason: 'refresh_busy', retryAfterMs: timings.backoffMs };
    },
    renewEarly: (key) =>
      flights.run([credentialId(key), 'early'], () => startRenewal(key, undefined, true), { detached: true }),
    get size() {
      return flights.size;
    },
    idle: () => flights.idle(),
  };
}

/** Keeps processes from crowding around one credential. It excludes nobody for sure: the claim does. */
interface RefreshLeases {
  /** Null: it is another's turn. While the leases do not answer it is everybody's. */
  tryAcquire(id: string): Promise<{ release(): Promise<void> } | null>;
  /** What is still held goes back. */
  releaseAll(): Promise<void>;
}

export function createRefreshLeases({
  leases,
  localClock,
  log,
  timings,
}: Pick<ResolvedVaultParts, 'leases' | 'localClock' | 'log' | 'timings'>): RefreshLeases {
  const activeLeases = new Set<{ release(): Promise<void> }>();

  async function acquire(id: string): Promise<HeldLease | null | 'unavailable'> {
    const acquiring = (async () => leases.acquire(`cred:${id}`, 'refresh', timings.leaseMs))();
    try {
      return await withTimeout(localClock, timings.storeTimeoutMs, acquiring, () => {
        // Nobody uses it any more when it comes after all.
        acquiring.then((lease) => lease?.release()).catch(() => undefined);
        throw new Error('the request timed out');
      });
    } catch (error) {
      log('vault_lease_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return 'unavailable';
    }
  }

  function startHeartbeat(lease: HeldLease): Cancel {
    const deadline = localClock.now() + timings.holdMs;
    let cancel: Cancel = () => undefined;
    const sendHeartbeat = () => {
      if (localClock.now() >= deadline) return;
      lease.extend(timings.leaseMs).catch(() => undefined);
      cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    };
    cancel = localClock.timer(timings.leaseRenewMs, sendHeartbeat);
    return () => cancel();
  }

  return {
    async tryAcquire(id) {
      const lease = await acquire(id);
      if (lease === null) return null;
      if (lease === 'unavailable') return { release: async () => undefined };
      const stopHeartbeat = startHeartbeat(lease);
      const activeLease = {
        async release() {
          stopHeartbeat();
          if (!activeLeases.delete(activeLease)) return;
          // It lapses by itself; the outcome is what counts.
          const released = lease.release().catch(() => false);
          await withTimeout(localClock, timings.storeTimeoutMs, released, () => false);
        },
      };
      activeLeases.add(activeLease);
      return activeLease;
    },
    async releaseAll() {
      await Promise.all([...activeLeases].map((activeLease) => activeLease.release()));
    },
  };
}

/** Renews what is in use before anybody has to wait for it. */
interface EarlyRenewal {
  /** It was used, or given, just now. */
  recordUse(record: CredentialRecord, context?: CredentialSnapshot['context']): void;
  /** It was renewed, which is no use of it. */
  recordRenewal(record: CredentialRecord): void;
  close(): void;
}

interface EarlyRenewalParts extends Pick<ResolvedVaultParts, 'clock' | 'localClock' | 'timings'> {
  /** Never rejects. */
  readonly renew: (key: CredentialKey) => Promise<unknown>;
}

/** More than this many are renewed when they are asked for. */
const MAX_PLANS = 20_000;

interface Plan {
  usedAt: number;
  /** Which pair the timer is for. */
  readonly version: TokenVersion;
  cancel: Cancel;
}

type TokenVersion = Pick<CredentialRecord, 'generation' | 'tokenSeq' | 'rtSuspect'>;

export function createEarlyRenewal({ clock, localClock, timings, renew }: EarlyRenewalParts): EarlyRenewal {
  const plans = new Map<string, Plan>();
  let isClosed = false;

  function isPlanFor({ version }: Plan, { generation, tokenSeq, rtSuspect }: TokenVersion): boolean {
    return (
      version.generation === generation && version.tokenSeq === tokenSeq && version.rtSuspect === rtSuspect
    );
  }

  function schedule(record: CredentialRecord, usedAt: number, dueAt: number): void {
    const { id } = record;
    plans.get(id)?.cancel();
    plans.delete(id);
    if (isClosed || dueAt === Infinity || plans.size >= MAX_PLANS) return;
    const newPlan: Plan = { usedAt, version: record, cancel: () => undefined };
    newPlan.cancel = localClock.timer(Math.max(0, dueAt - clock.now()), () => void runPlan(record, newPlan));
    plans.set(id, newPlan);
  }

  async function runPlan(record: CredentialRecord, duePlan: Plan): Promise<void> {
    const { id, tenant, principal, serverId, kind, label } = record;
    if (clock.now() - duePlan.usedAt <= timings.recentUseMs) {
      await renew({ tenant, principal, serverId, kind, label });
      if (plans.get(id) !== duePlan) return;
      // It did not work. Nobody has missed it yet.
      duePlan.cancel = localClock.timer(timings.maxBackoffMs, () => void runPlan(record, duePlan));
    } else if (plans.get(id) === duePlan) plans.delete(id);
  }

  return {
    recordUse(record, context) {
      const now = clock.now();
      const existing = plans.get(record.id);
      // Every call comes by here.
      if (existing && isPlanFor(existing, record)) {
        existing.usedAt = now;
        return;
      }
      const isDueNow = record.rtSuspect && isInRotationGrace(context, record.statusAt, now);
      schedule(record, now, isDueNow ? now : record.rtSuspect ? Infinity : earlyRenewalAt(record, timings));
    },
    recordRenewal(record) {
      const existing = plans.get(record.id);
      if (existing) schedule(record, existing.usedAt, earlyRenewalAt(record, timings));
    },
    close() {
      isClosed = true;
      for (const { cancel } of plans.values()) cancel();
      plans.clear();
    },
  };
}

interface RecoveryParts extends Pick<ResolvedVaultParts, 'clock' | 'localClock' | 'timings'> {
  readonly reader: CredentialReader;
  readonly renewal: Renewal;
}

type Recover = (key: CredentialKey, refusedToken: string) => Promise<TokenOutcome>;

const MAX_ENTRIES = 10_000;

/** A server refused an access token. By credential and token: what is known of one says nothing of the next. */
export function createRecovery({ clock, localClock, timings, reader, renewal }: RecoveryParts): Recover {
  const flights = createSingleFlight<TokenOutcome>();
  /** Tokens that were as new as can be when we gave them out here, until when. */
  const newTokens = createLruMap<number>(MAX_ENTRIES);
  /** Of those, the ones that were refused all the same. */
  const refusedNewTokens = createLruMap<number>(MAX_ENTRIES);

  function isRemembered(tokens: typeof newTokens, tokenKey: string): boolean {
    return (tokens.get(tokenKey) ?? -Infinity) > localClock.now();
  }

  function remember(tokens: typeof newTokens, tokenKey: string): void {
    tokens.set(tokenKey, localClock.now() + timings.refusedTokenMs);
  }

  function isRecentlyIssued({ record }: CredentialSnapshot): boolean {
    return record !== null && clock.now() - record.issuedAt < timings.refusedTokenMs;
  }

  async function recover(key: CredentialKey, refusedToken: string): Promise<TokenOutcome> {
    const id = credentialId(key);
    const tokenKey = toTokenKey(id, refusedToken);
    const policyRefusal = { kind: 'needs_reauth', reason: 'audience_or_policy', credentialId: id } as const;
    if (isRemembered(refusedNewTokens, tokenKey)) return policyRefusal;
    let snapshot: CredentialSnapshot;
    try {
      snapshot = await reader.readFresh(key);
    } catch {
      return { kind: 'unavailable', reason: 'store', retryAfterMs: timings.backoffMs };
    }
    const decision = evaluateCredential(snapshot, { refusedToken, now: clock.now() }, timings);
    if (decision.kind === 'outcome') {
      const { outcome } = decision;
      // A peer was faster: nothing is to be sent.
      if (outcome.kind === 'token' && isRecentlyIssued(snapshot))
        remember(newTokens, toTokenKey(id, outcome.token.accessToken));
      return outcome;
    }
    if (isRemembered(newTokens, tokenKey)) {
      remember(refusedNewTokens, tokenKey);
      return policyRefusal;
    }
    const outcome = await renewal.renew(key, refusedToken);
    if (outcome.kind === 'token') remember(newTokens, toTokenKey(id, outcome.token.accessToken));
    return outcome;
  }

  return (key, refusedToken) =>
    flights.run([toTokenKey(credentialId(key), refusedToken)], () => recover(key, refusedToken), {
      detached: true,
    });
}

function toTokenKey(id: string, token: string): string {
  return JSON.stringify([id, createHash('sha256').update(token).digest('base64url')]);
}
