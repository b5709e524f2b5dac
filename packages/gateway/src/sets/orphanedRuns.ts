import type { StoredStep } from '@behalf/contracts';
import type { Clock, Leases } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { RUN_LEASE_MS, MAX_ACTIVE_RUNS } from './limits.ts';
import { getRunLeaseKey } from './runView.ts';
import type { SetRun, SealedRuns } from './sealedRuns.ts';

export interface OrphanedRunParts {
  readonly runs: SealedRuns;
  readonly leases: Pick<Leases, 'acquire'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Whether a step that was under way when its replica went may run again. */
export type CanRetryStep = (step: StoredStep) => Promise<boolean>;

/**
 * Runs that nobody is at still stand as running, and would keep their user from running anything. They are written down as what
 * they are: a step that was under way is uncertain; where none was, the run can go on.
 */
export async function settleOrphanedRuns(
  { runs, leases, clock }: OrphanedRunParts,
  { tenant, userId }: UserPrincipal,
  canRetryStep: CanRetryStep,
): Promise<void> {
  for (const metadata of await runs.listRunning(tenant, userId)) {
    const lease = await leases.acquire(getRunLeaseKey(metadata), 'run', RUN_LEASE_MS);
    if (!lease) continue;
    try {
      const run = await runs.find(tenant, userId, metadata.id);
      if (run?.state === 'running') await runs.replace(await toStopped(run));
    } finally {
      await lease.release().catch(() => false);
    }
  }

  async function toStopped(run: SetRun): Promise<SetRun> {
    const next = run.steps[run.done];
    const wasRunning = next?.state === 'running';
    const mayGoOn = next !== undefined && (!wasRunning || (await canRetryStep(next)));
    const now = clock.now();
    const endFields = wasRunning ? { state: 'uncertain' as const, endedAt: now } : {};
    const steps = run.steps.map((step) => (step === next ? { ...step, ...endFields, mayGoOn } : step));
    const state = run.isCancelling ? 'cancelled' : wasRunning ? 'uncertain' : next ? 'failed' : 'succeeded';
    return { ...run, state, steps, isCancelling: false, worker: '', updatedAt: now };
  }
}

/** Writes a run that begins. RUN_LIMIT when its user has too many under way, those that nobody is at not counted. */
export async function insertRun(
  runs: SealedRuns,
  run: SetRun,
  settleOrphans: () => Promise<void>,
): Promise<void> {
  try {
    await runs.insert(run);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'RUN_LIMIT') throw error;
    await settleOrphans();
    await runs.insert(run);
  }
}

/**
 * Writes that a run runs again; null when somebody else wrote it. RUN_LIMIT as above, counted after it is one of them: of many that
 * are resumed at once, whoever sees too many takes its own back.
 */
export async function persistResumedRun(
  runs: SealedRuns,
  { previous, next }: { readonly previous: SetRun; readonly next: SetRun },
  settleOrphans: () => Promise<void>,
): Promise<SetRun | null> {
  const exceedsLimit = async () =>
    (await runs.listRunning(next.tenant, next.userId)).length > MAX_ACTIVE_RUNS;
  const resumed = await runs.replace(next);
  if (!resumed || !(await exceedsLimit())) return resumed;
  await settleOrphans();
  if (!(await exceedsLimit())) return resumed;
  await runs.replace({ ...previous, version: resumed.version });
  throw new GatewayError('RUN_LIMIT');
}
