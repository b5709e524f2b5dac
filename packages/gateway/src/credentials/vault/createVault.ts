import { unlessAborted, within, type Cancellation } from '@behalf/kernel';
import { credentialId, type CredentialKey } from '../../ports/index.ts';
import { createDpop } from '../dpop/dpop.ts';
import { createAppRenewal } from './appRenewal.ts';
import { createAttempt } from './attempt.ts';
import { createCommit } from './commit.ts';
import { createDisconnect } from './disconnect.ts';
import { createDiscards } from './discards.ts';
import { createEarlyRenewal } from './earlyRenewal.ts';
import { createExclusively } from './exclusive.ts';
import { judge } from './judge.ts';
import { createKeepPair } from './keepPair.ts';
import { createLend } from './lend.ts';
import { createNotices } from './notices.ts';
import { createOrphanPairs } from './orphanPairs.ts';
import { createReading } from './reading.ts';
import { createRecovery } from './recovery.ts';
import { createRequireSignIn } from './requireSignIn.ts';
import { createRefusedRefresh } from './refusedRefresh.ts';
import { createRenewal } from './renewal.ts';
import { createSetbacks, nothingYet } from './setbacks.ts';
import { createSnapshots } from './snapshots.ts';
import { createStoreTime } from './storeTime.ts';
import { summaryOf } from './summary.ts';
import { checkTimings, vaultTimings } from './timings.ts';
import { createTurns } from './turns.ts';
import { createUsageNotes } from './usageNotes.ts';
import type { CredentialVault, HeldToken, TokenOutcome } from './vault.ts';
import type { VaultEvent, VaultParts, VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

export function createVault(parts: VaultParts): CredentialVault {
  const timings = checkTimings({ ...vaultTimings, ...parts.timings });
  const { store, log, clock: localClock } = parts;
  const time = createStoreTime(store, localClock);
  const dpop = parts.dpop ?? createDpop({ clock: localClock, random: parts.random });
  const tools: VaultTools = { ...parts, dpop, timings, clock: time.clock, localClock, record };
  const { clock } = tools;

  let closingSince = Infinity;
  let closed: Promise<void> | undefined;
  const isClosing = () => closingSince !== Infinity;

  const usageNotes = createUsageNotes(tools);
  const snapshots = createSnapshots(tools);
  const notices = createNotices({ ...tools, onNotice: (notice) => snapshots.onNotice(notice) });
  const setbacks = createSetbacks(tools);
  const turns = createTurns(tools);
  const discards = createDiscards(tools);
  const orphanPairs = createOrphanPairs(tools);
  const keepPair = createKeepPair({
    ...tools,
    ...{ orphanPairs, discards, notices },
    closingSince: () => closingSince,
  });
  const reading = createReading({ ...tools, snapshots, time, shown: (found) => keepPair.shown(found) });
  const refused = createRefusedRefresh({ ...tools, setbacks, notices });
  const commit = createCommit({
    ...tools,
    discards,
    notices,
    setbacks,
    onCommitted: (record) => early.used(record),
  });
  const renewApp = createAppRenewal({ ...tools, reading, setbacks, notices, commit });
  const attempt = createAttempt({
    ...tools,
    ...{ reading, setbacks, refused, keepPair, orphanPairs, notices, renewApp },
    onRenewed: (renewed) => early.renewed(renewed),
  });
  const renewal = createRenewal({ ...tools, attempt, turns, reading, snapshots, notices, isClosing });
  const recovery = createRecovery({ ...tools, reading, renewal });
  const early = createEarlyRenewal({ ...tools, renew: (key) => renewal.renewEarly(key) });
  const endings = createDisconnect({ ...tools, discards, notices, orphanPairs, keepPair });
  const exclusively = createExclusively({ ...tools, notices });
  const lend = createLend({
    ...tools,
    ...{ reading, renewal, refused, keepPair, notices, discards, exclusively, isClosing },
  });
  const onGiven = new Set<(token: HeldToken) => void>();
  /** What was given out of a view before: a call costs no more than looking it up. */
  const given = new WeakMap<CredentialView, HeldToken>();

  function record(event: VaultEvent): void {
    if (event.kind === 'refresh') usageNotes.renewed(credentialId(event.credential), event.outcome);
    try {
      parts.record(event);
    } catch (error) {
      log('vault_record_failed', { reason: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function noteUse({ record: used, context }: CredentialView): void {
    if (!used) return;
    usageNotes.used(used.id);
    early.used(used, context);
  }

  function give(token: HeldToken): HeldToken {
    for (const listener of onGiven) listener(token);
    return token;
  }

  function giveOut(outcome: TokenOutcome): TokenOutcome {
    if (outcome.kind === 'token') give(outcome.token);
    return outcome;
  }

  function peek(key: CredentialKey): HeldToken | undefined {
    const token = known(key);
    return token && give(token);
  }

  function known(key: CredentialKey): HeldToken | undefined {
    const view = snapshots.fresh(credentialId(key));
    if (!view) return undefined;
    const before = given.get(view);
    if (before && clock.now() < before.usableUntil) {
      noteUse(view);
      return before;
    }
    const verdict = judge(view, { now: clock.now() }, timings);
    if (verdict.kind !== 'outcome' || verdict.outcome.kind !== 'token') return undefined;
    given.set(view, verdict.outcome.token);
    noteUse(view);
    return verdict.outcome.token;
  }

  async function obtain(key: CredentialKey): Promise<TokenOutcome> {
    let view: CredentialView;
    try {
      view = await reading.current(key);
    } catch (error) {
      log('vault_store_failed', { reason: error instanceof Error ? error.name : 'unknown' });
      return renewal.withoutStore(key);
    }
    const verdict = judge(view, { now: clock.now() }, timings);
    if (verdict.kind === 'outcome') {
      noteUse(view);
      return verdict.outcome;
    }
    const standing = setbacks.standing(view.record ?? nothingYet(credentialId(key)));
    if (!standing) return renewal.renew(key);
    return verdict.last ? { kind: 'token', token: verdict.last } : standing;
  }

  function patiently<T>(work: Promise<T>, signal: Cancellation | undefined): Promise<T> {
    return signal ? unlessAborted(work, signal) : work;
  }

  async function close(): Promise<void> {
    closingSince = localClock.now();
    early.close();
    // Who only waits need not be waited for.
    notices.wakeAll();
    const all = Promise.all([renewal.idle(), discards.idle(), usageNotes.idle()]);
    await within(localClock, timings.closeMs, all, () => log('vault_closed_early', {}));
    await turns.endAll();
    keepPair.close();
    notices.close();
    snapshots.clear();
  }

  return {
    peek,
    async token(key, { signal } = {}) {
      const token = peek(key);
      return token ? { kind: 'token', token } : giveOut(await patiently(obtain(key), signal));
    },
    recover: async (key, refusedToken, { signal } = {}) =>
      giveOut(await patiently(recovery(key, refusedToken), signal)),
    commit,
    disconnect: (key) => endings.disconnect(key),
    end: (key) => endings.end(key),
    require: createRequireSignIn({ ...tools, notices }),
    async list(tenant, principal, serverId) {
      const records = await store.list(tenant, principal, serverId);
      return Promise.all(records.map((one) => summaryOf(tools, one)));
    },
    async find(key) {
      const found = await store.find(key);
      return found && summaryOf(tools, found);
    },
    async makeDefault(id) {
      const isMade = await store.makeDefault(id);
      if (isMade) await notices.publish(id);
      return isMade;
    },
    exclusively,
    lend,
    onChange: (listener) => notices.onChange(listener),
    onGiven(listener) {
      onGiven.add(listener);
      return () => void onGiven.delete(listener);
    },
    get renewing() {
      return renewal.size;
    },
    close: () => (closed ??= close()),
  };
}
