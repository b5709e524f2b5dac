import type { KeptStep } from '@behalf/contracts';
import type { Clock, Leases } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { LEASE_MS, MOST_RUNNING } from './limits.ts';
import { runLease } from './runView.ts';
import type { Run, Runs } from './sealedRuns.ts';

export interface LostRunParts {
  readonly runs: Runs;
  readonly leases: Pick<Leases, 'acquire'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Whether a step that was under way when its replica went may run again. */
export type MaySend = (step: KeptStep) => Promise<boolean>;

/**
 * Runs that nobody is at still stand as running, and would keep their user from running anything. They are written down as what
 * they are: a step that was under way is uncertain; where none was, the run can go on.
 */
export async function settleLost(
  { runs, leases, clock }: LostRunParts,
  { tenant, userId }: UserPrincipal,
  maySend: MaySend,
): Promise<void> {
  for (const head of await runs.running(tenant, userId)) {
    const lease = await leases.acquire(runLease(head), 'run', LEASE_MS);
    if (!lease) continue;
    try {
      const run = await runs.find(tenant, userId, head.id);
      if (run?.state === 'running') await runs.replace(await stopped(run));
    } finally {
      await lease.release().catch(() => false);
    }
  }

  async function stopped(run: Run): Promise<Run> {
    const next = run.steps[run.done];
    const isUnderWay = next?.state === 'running';
    const mayGoOn = next !== undefined && (!isUnderWay || (await maySend(next)));
    const now = clock.now();
    const ended = isUnderWay ? { state: 'uncertain' as const, endedAt: now } : {};
    const steps = run.steps.map((step) => (step === next ? { ...step, ...ended, mayGoOn } : step));
    const state = run.isCancelling ? 'cancelled' : isUnderWay ? 'uncertain' : next ? 'failed' : 'succeeded';
    return { ...run, state, steps, isCancelling: false, worker: '', updatedAt: now };
  }
}

/** Writes a run that begins. RUN_LIMIT when its user has too many under way, those that nobody is at not counted. */
export async function beginNew(runs: Runs, run: Run, settle: () => Promise<void>): Promise<void> {
  try {
    await runs.insert(run);
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'RUN_LIMIT') throw error;
    await settle();
    await runs.insert(run);
  }
}

/**
 * Writes that a run runs again; null when somebody else wrote it. RUN_LIMIT as above, counted after it is one of them: of many that
 * are resumed at once, whoever sees too many takes its own back.
 */
export async function beginAgain(
  runs: Runs,
  { before, next }: { readonly before: Run; readonly next: Run },
  settle: () => Promise<void>,
): Promise<Run | null> {
  const isFull = async () => (await runs.running(next.tenant, next.userId)).length > MOST_RUNNING;
  const resumed = await runs.replace(next);
  if (!resumed || !(await isFull())) return resumed;
  await settle();
  if (!(await isFull())) return resumed;
  await runs.replace({ ...before, version: resumed.version });
  throw new GatewayError('RUN_LIMIT');
}
