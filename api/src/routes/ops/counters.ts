import {
  type Audit,
  type AuditEvent,
  type CallbackResult,
  type VaultEvent,
  userIdOfHolder,
} from '@behalf/gateway';

/** Counts results by their code. Codes are the gateway's own, never text of another party. */
interface OutcomeCounter {
  readonly count: (outcome: string) => void;
  readonly outcomes: ReadonlyMap<string, number>;
}

function createOutcomeCounter(): OutcomeCounter {
  const outcomes = new Map<string, number>();
  return {
    count: (outcome) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1),
    outcomes,
  };
}

/** Token exchanges by outcome, and the requests to token endpoints that they needed. */
export interface ExchangeStats {
  count(outcome: string, requests: number): void;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly requests: number;
}

export function createExchangeStats(): ExchangeStats {
  const { count, outcomes } = createOutcomeCounter();
  let total = 0;
  return {
    count(outcome, requests) {
      count(outcome);
      total += requests;
    },
    outcomes,
    get requests() {
      return total;
    },
  };
}

/** Refreshes of stored tokens by outcome. The replica that refreshes a token counts it. */
export interface RefreshStats extends OutcomeCounter {
  /** A token pair was received but could not be persisted. Until it is, only the memory of this process holds it. */
  countNotStored(): void;
  readonly notStored: number;
}

export function createRefreshStats(): RefreshStats {
  let notStored = 0;
  return {
    ...createOutcomeCounter(),
    countNotStored: () => void (notStored += 1),
    get notStored() {
      return notStored;
    },
  };
}

/** Sign-ins at servers by the outcome of the callback. */
export interface SignInStats {
  count(result: Pick<CallbackResult, 'ok' | 'error'>): void;
  readonly outcomes: ReadonlyMap<string, number>;
}

export function createSignInStats(): SignInStats {
  const { count, outcomes } = createOutcomeCounter();
  return { count: ({ ok, error = 'callback_failed' }) => count(ok ? 'ok' : error), outcomes };
}

/** Counts an event of the vault, or records it in the audit log. */
export function recordVaultEvent(
  {
    refreshes,
    audit,
  }: {
    readonly refreshes: Pick<RefreshStats, 'count' | 'countNotStored'>;
    readonly audit: Pick<Audit, 'note'>;
  },
  event: VaultEvent,
): void {
  if (event.kind === 'refresh') refreshes.count(event.outcome);
  else if (event.kind === 'sign_in_needed') audit.note(signInNeededEvent(event));
  else refreshes.countNotStored();
}

/** The actor is the gateway, because a background refresh can find that a sign-in is needed. */
function signInNeededEvent({
  credential: { tenant, principal, serverId },
  reason,
}: Extract<VaultEvent, { kind: 'sign_in_needed' }>): AuditEvent {
  return {
    kind: 'credential',
    action: 'credential.sign_in_needed',
    tenant,
    actor: { kind: 'gateway', id: '' },
    door: 'gateway',
    outcome: 'failed',
    code: reason,
    serverId,
    subject: userIdOfHolder(principal) ?? principal,
  };
}
