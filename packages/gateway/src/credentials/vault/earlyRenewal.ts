import type { Cancel } from '@behalf/kernel';
import { type CredentialKey, type CredentialRecord, credentialKey } from '../../ports/index.ts';
import { earlyRenewalAt, isInRotationGrace } from './decide.ts';
import type { CredentialSnapshot } from './read.ts';
import type { VaultCore } from './vault.ts';

/** Credentials beyond this number are refreshed when a caller needs them. */
const MAX_PLANS = 20_000;

interface Plan {
  usedAt: number;
  /** The record that the timer was set for. */
  readonly record: CredentialRecord;
  cancel: Cancel;
}

/** Refreshes credentials in use before a caller has to wait for it. `renew` must not reject. */
export function createEarlyRenewal(
  { clock, localClock, timings }: VaultCore,
  renew: (key: CredentialKey) => Promise<unknown>,
) {
  const plans = new Map<string, Plan>();
  let isClosed = false;

  function schedule(record: CredentialRecord, usedAt: number, dueAt: number): void {
    const { id } = record;
    plans.get(id)?.cancel();
    plans.delete(id);
    if (isClosed || dueAt === Infinity || plans.size >= MAX_PLANS) return;
    const plan: Plan = { usedAt, record, cancel: () => undefined };
    plan.cancel = localClock.timer(Math.max(0, dueAt - clock.now()), () => void runPlan(plan));
    plans.set(id, plan);
  }

  async function runPlan(plan: Plan): Promise<void> {
    const { record } = plan;
    if (clock.now() - plan.usedAt <= timings.recentUseMs) {
      await renew(credentialKey(record));
      // A success scheduled a new plan.
      if (plans.get(record.id) !== plan) return;
      plan.cancel = localClock.timer(timings.maxBackoffMs, () => void runPlan(plan));
    } else if (plans.get(record.id) === plan) plans.delete(record.id);
  }

  return {
    /** Runs on every call: must stay cheap. */
    recordUse(record: CredentialRecord, context?: CredentialSnapshot['context']): void {
      const now = clock.now();
      const plan = plans.get(record.id);
      if (plan && isSameVersion(plan.record, record)) {
        plan.usedAt = now;
        return;
      }
      const isDueNow = record.rtSuspect && isInRotationGrace(context, record.statusAt, now);
      schedule(record, now, isDueNow ? now : record.rtSuspect ? Infinity : earlyRenewalAt(record, timings));
    },
    /** A refresh does not count as use. */
    recordRenewal(record: CredentialRecord): void {
      const plan = plans.get(record.id);
      if (plan) schedule(record, plan.usedAt, earlyRenewalAt(record, timings));
    },
    close(): void {
      isClosed = true;
      for (const { cancel } of plans.values()) cancel();
      plans.clear();
    },
  };
}

function isSameVersion(a: CredentialRecord, b: CredentialRecord): boolean {
  return a.generation === b.generation && a.tokenSeq === b.tokenSeq && a.rtSuspect === b.rtSuspect;
}
