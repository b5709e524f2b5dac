import {
  type Diagnostic,
  type ErrorCode,
  type RunProgress,
  type RunStepView,
  type StepWait,
  type StoredStep,
  httpStatus,
} from '@behalf/contracts';
import { type Cancel, type Clock, type HeldLease, LightCancellation, sleep } from '@behalf/kernel';
import { GatewayError, type SignInRequirement } from '../errors/gatewayError.ts';
import type { ApiKeyStore, SessionStore, UserStore } from '../ports/index.ts';
import type { Authentication, UserPrincipal } from '../principal/principal.ts';
import { toEtag } from '../servers/editing.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { canRetry } from '../toolcall/retry.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { mergeStepInputs } from './check.ts';
import { readStepOutput, resolvePointer } from './output.ts';
import { findBlockToRun, findCachedTool, runBlock } from './runBlock.ts';
import {
  HEARTBEAT_MS,
  MAX_RESULT_LENGTH,
  MAX_TOTAL_RESULT_LENGTH,
  RUN_LEASE_MS,
  type RunInbound,
  type RunSetParts,
  type SetRun,
  toStepView,
} from './runs.ts';
import type { SavedBlock } from './store.ts';

/** Why a run ends before its last step. */
class RunAborted extends Error {
  override readonly name = 'Ended';
  readonly reason: 'cancelled' | 'lost' | 'closing';
  constructor(reason: RunAborted['reason']) {
    super(`The run was stopped: ${reason}`);
    this.reason = reason;
  }
}

export interface RunListener {
  step(step: RunStepView): void;
  progress(progress: RunProgress): void;
}

/** One run that is under way here. */
export interface RunJob {
  /** Resolves when it is over here, with what was last written of it. Never rejects. */
  readonly completion: Promise<SetRun>;
  cancel(): void;
  /** The step that is under way may end; no other begins. */
  stop(): void;
  /** Nor does that one. */
  abandon(): void;
}

const MAX_WRITE_ATTEMPTS = 5;
const WRITE_RETRY_MS = 1_000;

/**
 * Does the steps one after the other. Each is written down before it begins and after it ended, over the version that was last
 * seen: of two that believe the run is theirs, one goes on.
 */
export function startRunJob(
  parts: RunSetParts,
  inbound: RunInbound,
  initialRun: SetRun,
  lease: HeldLease,
  listener?: RunListener,
): RunJob {
  const { runs, clock } = parts;
  const signal = new LightCancellation();
  const startedAt = clock.now();
  let run = initialRun;
  let isClosing = false;
  let isFinished = false;
  let cancelHeartbeat: Cancel = () => undefined;
  let leaseExpiresAt = clock.now() + RUN_LEASE_MS;

  const abort = (reason: RunAborted['reason']) => signal.abort(new RunAborted(reason));
  const isAborted = () => signal.aborted;
  const getAbortReason = () => (signal.reason instanceof RunAborted ? signal.reason.reason : undefined);

  async function sendHeartbeat(): Promise<void> {
    try {
      if (await lease.extend(RUN_LEASE_MS)) leaseExpiresAt = clock.now() + RUN_LEASE_MS;
      else abort('lost');
      const current = await runs.findMetadata(run.tenant, run.userId, run.id);
      if (current?.worker !== run.worker) abort('lost');
      else if (current.isCancelling) abort('cancelled');
    } catch {
      if (clock.now() >= leaseExpiresAt) abort('lost');
    }
    scheduleHeartbeat();
  }
  function scheduleHeartbeat(): void {
    if (!isFinished) cancelHeartbeat = clock.timer(HEARTBEAT_MS, () => void sendHeartbeat());
  }

  /** Over what was last seen. A wish to cancel that came in between is taken up; another worker ends this one. */
  async function writeRun(change: Partial<SetRun>): Promise<void> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const written = await runs.replace({ ...run, ...change, updatedAt: clock.now() });
        if (written) {
          run = written;
          return;
        }
        const current = await runs.findMetadata(run.tenant, run.userId, run.id);
        if (current?.worker !== run.worker) throw new RunAborted('lost');
        run = { ...run, version: current.version, isCancelling: current.isCancelling };
        if (run.isCancelling) abort('cancelled');
      } catch (error) {
        // What ran must be written down, or nobody knows.
        if (error instanceof RunAborted || attempts >= MAX_WRITE_ATTEMPTS) throw error;
        await sleep(clock, WRITE_RETRY_MS);
      }
    }
  }

  async function writeStep(
    index: number,
    change: Partial<StoredStep>,
    runChange: Partial<SetRun> = {},
  ): Promise<void> {
    const steps = run.steps.map((step, i) => (i === index ? { ...step, ...change } : step));
    const done = steps.filter(({ state }) => state === 'succeeded').length;
    await writeRun({ steps, done, ...runChange });
    listener?.step(toStepView(steps[index] as StoredStep));
  }

  async function runStepAt(index: number): Promise<boolean> {
    const step = run.steps[index] as StoredStep;
    if (isAborted() || isClosing) return false;
    const { code: _code, errors: _errors, wait: _wait, result: _result, ...rest } = step;
    const runningStep: StoredStep = {
      ...rest,
      state: 'running',
      startedAt: clock.now(),
      endedAt: null,
      mayGoOn: false,
    };
    const steps = run.steps.map((other, i) => (i === index ? runningStep : other));
    await writeRun({ steps });
    listener?.step(toStepView(runningStep));
    // A wish to cancel that was found with this write: nothing was sent.
    if (isAborted()) {
      await writeStep(index, { state: 'pending', startedAt: null });
      return false;
    }
    const stepAttempt = await attemptStepAt(runningStep, index);
    const runChange = stepAttempt.state === 'succeeded' ? {} : { state: stepAttempt.state };
    await writeStep(index, { ...toStoredFields(stepAttempt, run.steps), endedAt: clock.now() }, runChange);
    return stepAttempt.state === 'succeeded';
  }

  async function attemptStepAt(step: StoredStep, index: number): Promise<StepAttempt> {
    let principal;
    try {
      principal = await reloadRunPrincipal(parts, inbound.principal, startedAt);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { state: 'failed', code: error.code, mayGoOn: true };
    }
    const stepInbound = {
      ...inbound,
      ...{ principal, signal, id: run.id, credential: step.credential },
      onProgress: (params: object) => listener?.progress({ ...params, step: step.key }),
      onLog: undefined,
    };
    return attemptStep(parts, stepInbound, step, run.steps.slice(0, index));
  }

  async function runSteps(): Promise<void> {
    for (let index = run.done; index < run.steps.length; index += 1) {
      if (!(await runStepAt(index))) break;
    }
    if (getAbortReason() === 'cancelled')
      await writeRun({ state: 'cancelled', isCancelling: false, worker: '' });
    else if (run.done === run.steps.length) await writeRun({ state: 'succeeded', worker: '' });
    // One that stops for a restart stays as it is: without its lease it is interrupted.
  }

  async function execute(): Promise<SetRun> {
    scheduleHeartbeat();
    try {
      await runSteps();
    } catch {
      // What could not be written: the run is interrupted, and a step that was under way uncertain.
    } finally {
      isFinished = true;
      cancelHeartbeat();
      // It lapses by itself.
      await lease.release().catch(() => false);
    }
    return run;
  }

  return {
    completion: execute(),
    cancel: () => abort('cancelled'),
    stop() {
      isClosing = true;
    },
    abandon: () => abort('closing'),
  };
}

/** What is kept of an attempt: a result that is too large, alone or with the others, is not. */
function toStoredFields(stepAttempt: StepAttempt, steps: readonly StoredStep[]): Partial<StoredStep> {
  const { result, ...rest } = stepAttempt;
  if (result === undefined) return rest;
  const otherLength = steps.reduce((sum, step) => sum + (step.result ? measureLength(step.result) : 0), 0);
  const size = measureLength(result);
  const isTooLarge = size > MAX_RESULT_LENGTH || otherLength + size > MAX_TOTAL_RESULT_LENGTH;
  return isTooLarge ? { ...rest, isResultLost: true } : { ...rest, result };
}

function measureLength(result: object): number {
  return JSON.stringify(result).length;
}

/** What became of one step. */
interface StepAttempt extends Pick<StoredStep, 'mayGoOn'> {
  readonly state: 'succeeded' | 'waiting' | 'failed' | 'uncertain';
  readonly code?: ErrorCode;
  readonly errors?: Diagnostic[];
  readonly wait?: StepWait;
  readonly result?: JsonObject;
}

/**
 * Runs one step as whoever runs the set: a block's run, with what earlier steps gave. What never began may be begun again; what
 * ran is not; and what may have run is only where the operator vouches for the tool, as for any call.
 */
async function attemptStep(
  parts: RunSetParts,
  inbound: Inbound,
  step: StoredStep,
  previousSteps: readonly StoredStep[],
): Promise<StepAttempt> {
  let block: SavedBlock | null = null;
  try {
    const inputs = gatherInputs(step, previousSteps);
    block = await findBlockToRun(parts, inbound.principal, step.block);
    const stepCall = { principal: inbound.principal, server: step.server, description: `step ${step.key}` };
    const { blockVersion: expectedVersion } = step;
    const ifMatch = expectedVersion === undefined ? undefined : toEtag(expectedVersion);
    const request = { id: step.block, block, inputs, credential: step.credential, ifMatch };
    const outcome = await parts.meterStep({ ...stepCall, signal: inbound.signal }, () =>
      runBlock(parts, request, inbound),
    );
    if (outcome.kind === 'auth_required') return toSignInAttempt(outcome.signIn);
    const { result } = outcome;
    // What a tool says about its own failure is known: it ran.
    return { state: result['isError'] === true ? 'failed' : 'succeeded', mayGoOn: false, result };
  } catch (error) {
    return toFailedAttempt(error, () => canRunAgain(parts, inbound, block));
  }
}

/** What the run brought, what the set fixes, and what earlier steps gave. */
function gatherInputs(step: StoredStep, previousSteps: readonly StoredStep[]): JsonObject {
  const args: Record<string, unknown> = { ...mergeStepInputs(step, step.providedInputs) };
  const errors: Diagnostic[] = [];
  for (const [name, input] of Object.entries(step.inputs)) {
    if (input.mode !== 'from') continue;
    const source = previousSteps.find(({ key }) => key === input.step);
    const value = source?.result && resolvePointer(readStepOutput(source.result), input.pointer);
    if (value === undefined)
      errors.push({ path: `inputs.${name}`, ...createMissingOutputError(input, source) });
    else args[name] = value;
  }
  if (errors.length > 0) throw new GatewayError('SET_INPUT_UNAVAILABLE', { errors });
  return args;
}

function createMissingOutputError(
  { pointer, step }: { pointer: string; step: string },
  source: StoredStep | undefined,
) {
  return source?.isResultLost
    ? { code: 'result_lost', message: `The result of step "${step}" was too large to store.` }
    : {
        code: 'nothing_there',
        message: `There is no value at "${pointer}" in the output of step "${step}".`,
      };
}

function toSignInAttempt({ server, reason, connectUrl }: SignInRequirement): StepAttempt {
  const wait = { kind: 'sign_in', server, reason, connectUrl } as const;
  return { state: 'waiting', code: 'MCP_AUTHORIZATION_REQUIRED', wait, mayGoOn: true };
}

/** Refused by us before anything was sent, although the fault is not the caller's. */
const notSentCodes: ReadonlySet<ErrorCode> = new Set([
  'AUDIT_UNAVAILABLE',
  'UPSTREAM_AUTH_UNAVAILABLE',
  'UPSTREAM_AUTH_MISCONFIGURED',
  'OBO_TEMPORARY',
  'OBO_EMPTY_RESPONSE',
  'OBO_MISCONFIGURED',
]);

function toFailedAttempt(error: unknown, isRetryAllowed: () => boolean): StepAttempt {
  if (!(error instanceof GatewayError)) return { state: 'uncertain', mayGoOn: isRetryAllowed() };
  const { code, approval, missing, cause } = error;
  const errors = error.errors && [...error.errors];
  const errorFields = { code, ...(errors && { errors }) };
  if (approval) {
    return { state: 'waiting', ...errorFields, wait: { kind: 'approval', ...approval }, mayGoOn: true };
  }
  if (missing) {
    const prerequisite = missing.credentials
      .flatMap(({ needs }) => needs)
      .find(({ kind }) => kind === 'sign_in');
    const wait = prerequisite?.kind === 'sign_in' ? toSignInWait(prerequisite) : undefined;
    return { state: 'waiting', ...errorFields, ...(wait && { wait }), mayGoOn: true };
  }
  // The block is not the one with which the run began. It never will be again.
  if (code === 'VERSION_CONFLICT') return { state: 'failed', code: 'RUN_BLOCK_CHANGED', mayGoOn: false };
  if (code === 'BLOCK_OUTPUT_INVALID') return { state: 'failed', ...errorFields, mayGoOn: false };
  if (cause instanceof UpstreamError) {
    const { outcome, reason } = cause;
    if (outcome === 'unknown') {
      return { state: 'uncertain', ...errorFields, mayGoOn: reason !== 'too_large' && isRetryAllowed() };
    }
    return { state: 'failed', ...errorFields, mayGoOn: outcome !== 'failed' };
  }
  if (httpStatus(code) < 500 || notSentCodes.has(code))
    return { state: 'failed', ...errorFields, mayGoOn: true };
  return { state: 'uncertain', ...errorFields, mayGoOn: isRetryAllowed() };
}

function toSignInWait({
  server,
  reason,
  connectUrl,
}: {
  server: string;
  reason: string;
  connectUrl: string;
}) {
  return { kind: 'sign_in', server, reason, connectUrl } as const;
}

/** By the rule for calls whose outcome is not known. */
export function canRunAgain(parts: RunSetParts, { principal }: Inbound, block: SavedBlock | null): boolean {
  const server = block && parts.registry.get(principal.tenant, block.serverId);
  if (!server) return false;
  const tool = findCachedTool(parts, server, principal, block);
  return canRetry(new UpstreamError('stream_broken'), server, tool);
}

export interface RunPrincipalParts {
  readonly users: Pick<UserStore, 'findById'>;
  /** By what runners were known when they began. */
  readonly authenticationStores: {
    readonly sessions: Pick<SessionStore, 'filterActive'>;
    readonly apiKeys: Pick<ApiKeyStore, 'filterActive'>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Who runs it, as their account is now: a run goes on without them, and must not when they were disabled, or signed out
 * since it began, or when the key or the sign-in that began it was taken back.
 */
export async function reloadRunPrincipal(
  parts: RunPrincipalParts,
  principal: UserPrincipal,
  startedAt: number,
): Promise<UserPrincipal> {
  const user = await parts.users.findById(principal.userId);
  const isActive = user?.tenant === principal.tenant && user.disabledAt === null;
  if (!isActive || (user.signedOutAt ?? -1) >= startedAt) throw new GatewayError('AUTH_REQUIRED');
  if (!(await isStillAuthenticated(parts, principal.authentication))) throw new GatewayError('AUTH_REQUIRED');
  return user.role === principal.role ? principal : Object.freeze({ ...principal, role: user.role });
}

/** A token of the identity provider ends by itself, mostly sooner than what it began. */
async function isStillAuthenticated(
  { authenticationStores, clock }: RunPrincipalParts,
  authentication: Authentication,
): Promise<boolean> {
  const now = clock.now();
  if (authentication.via === 'api_key')
    return (await authenticationStores.apiKeys.filterActive([authentication.key], now)).length > 0;
  const session = authentication.via === 'session' ? authentication.session : authentication.grant?.session;
  return (
    session === undefined || (await authenticationStores.sessions.filterActive([session], now)).length > 0
  );
}
