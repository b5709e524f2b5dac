import type { Cancel } from '@behalf/kernel';
import type { CredentialKey, CredentialRecord } from '../../ports/index.ts';
import { earlyRenewalAt } from './vaultToken.ts';
import { isInRotationGrace } from './evaluateCredential.ts';
import type { ResolvedVaultParts } from './vaultParts.ts';
import type { CredentialSnapshot } from './credentialSnapshot.ts';

/** Renews what is in use before anybody has to wait for it. */
export interface EarlyRenewal {
  /** It was used, or given, just now. */
  recordUse(record: CredentialRecord, context?: CredentialSnapshot['context']): void;
  /** It was renewed, which is no use of it. */
  recordRenewal(record: CredentialRecord): void;
  close(): void;
}

export interface EarlyRenewalParts extends Pick<ResolvedVaultParts, 'clock' | 'localClock' | 'timings'> {
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
