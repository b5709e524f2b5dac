import type { Cancel } from '@behalf/kernel';
import type { CredentialKey, CredentialRecord } from '../../ports/index.ts';
import { earlyAt } from './heldToken.ts';
import { isInGrace } from './judge.ts';
import type { VaultTools } from './vaultParts.ts';
import type { CredentialView } from './view.ts';

/** Renews what is in use before anybody has to wait for it. */
export interface EarlyRenewal {
  /** It was used, or given, just now. */
  used(record: CredentialRecord, context?: CredentialView['context']): void;
  /** It was renewed, which is no use of it. */
  renewed(record: CredentialRecord): void;
  close(): void;
}

export interface EarlyRenewalParts extends Pick<VaultTools, 'clock' | 'localClock' | 'timings'> {
  /** Never rejects. */
  readonly renew: (key: CredentialKey) => Promise<unknown>;
}

/** More than this many are renewed when they are asked for. */
const MOST_PLANNED = 20_000;

interface Plan {
  usedAt: number;
  /** Which pair the timer is for. */
  readonly pair: Pair;
  cancel: Cancel;
}

type Pair = Pick<CredentialRecord, 'generation' | 'tokenSeq' | 'rtSuspect'>;

export function createEarlyRenewal({ clock, localClock, timings, renew }: EarlyRenewalParts): EarlyRenewal {
  const plans = new Map<string, Plan>();
  let isClosed = false;

  function isFor({ pair }: Plan, { generation, tokenSeq, rtSuspect }: Pair): boolean {
    return pair.generation === generation && pair.tokenSeq === tokenSeq && pair.rtSuspect === rtSuspect;
  }

  function plan(record: CredentialRecord, usedAt: number, dueAt: number): void {
    const { id } = record;
    plans.get(id)?.cancel();
    plans.delete(id);
    if (isClosed || dueAt === Infinity || plans.size >= MOST_PLANNED) return;
    const next: Plan = { usedAt, pair: record, cancel: () => undefined };
    next.cancel = localClock.timer(Math.max(0, dueAt - clock.now()), () => void fire(record, next));
    plans.set(id, next);
  }

  async function fire(record: CredentialRecord, due: Plan): Promise<void> {
    const { id, tenant, principal, serverId, kind, label } = record;
    if (clock.now() - due.usedAt <= timings.recentUseMs) {
      await renew({ tenant, principal, serverId, kind, label });
      if (plans.get(id) !== due) return;
      // It did not work. Nobody has missed it yet.
      due.cancel = localClock.timer(timings.longestBackoffMs, () => void fire(record, due));
    } else if (plans.get(id) === due) plans.delete(id);
  }

  return {
    used(record, context) {
      const now = clock.now();
      const known = plans.get(record.id);
      // Every call comes by here.
      if (known && isFor(known, record)) {
        known.usedAt = now;
        return;
      }
      const isDueNow = record.rtSuspect && isInGrace(context, record.statusAt, now);
      plan(record, now, isDueNow ? now : record.rtSuspect ? Infinity : earlyAt(record, timings));
    },
    renewed(record) {
      const known = plans.get(record.id);
      if (known) plan(record, known.usedAt, earlyAt(record, timings));
    },
    close() {
      isClosed = true;
      for (const { cancel } of plans.values()) cancel();
      plans.clear();
    },
  };
}
