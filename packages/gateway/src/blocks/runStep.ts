import {
  type Diagnostic,
  type ErrorCode,
  type StepWait,
  type StoredStep,
  httpStatus,
} from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type UserPrincipal, isActiveUser } from '../principal/principal.ts';
import { toEtag } from '../servers/editing.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { canRetry } from '../toolcall/retry.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { mergeStepInputs } from './inputs.ts';
import { readStepOutput, resolvePointer } from './output.ts';
import { findBlockToRun, findCachedTool, runBlock } from './runBlock.ts';
import type { SetParts } from './runs.ts';
import type { SavedBlock } from './store.ts';

/** The outcome of one attempt of a step. `mayGoOn`: the step may be attempted again. */
export interface StepAttempt extends Pick<StoredStep, 'mayGoOn'> {
  readonly state: 'succeeded' | 'waiting' | 'failed' | 'uncertain';
  readonly code?: ErrorCode;
  readonly errors?: Diagnostic[];
  readonly wait?: StepWait;
  readonly result?: JsonObject;
}

/**
 * Runs one step as the user of the run, with values from earlier steps. A step that never started may run again. A step that ran
 * may not. A step with an unknown outcome may only if the operator marked the tool as idempotent, as for any call.
 */
export async function attemptStep(
  parts: SetParts,
  inbound: Inbound,
  step: StoredStep,
  previousSteps: readonly StoredStep[],
): Promise<StepAttempt> {
  const { principal, signal } = inbound;
  let block: SavedBlock | null = null;
  try {
    const inputs = resolveStepInputs(step, previousSteps);
    block = await findBlockToRun(parts, principal, step.block);
    const { blockVersion } = step;
    const ifMatch = blockVersion === undefined ? undefined : toEtag(blockVersion);
    const request = { id: step.block, block, inputs, credential: step.credential, ifMatch };
    const stepCall = { principal, server: step.server, description: `step ${step.key}`, signal };
    const outcome = await parts.meterStep(stepCall, () => runBlock(parts, request, inbound));
    if (outcome.kind === 'auth_required') {
      const wait = toSignInWait(outcome.signIn);
      return { state: 'waiting', code: 'MCP_AUTHORIZATION_REQUIRED', wait, mayGoOn: true };
    }
    const { result } = outcome;
    // A failure that the tool reports is a known outcome: the tool ran.
    return { state: result['isError'] === true ? 'failed' : 'succeeded', mayGoOn: false, result };
  } catch (error) {
    return toFailedAttempt(error, () => isRetryAllowed(parts, inbound, block));
  }
}

/** The inputs that the run provides, the values that the set fixes, and the values that earlier steps returned. */
function resolveStepInputs(step: StoredStep, previousSteps: readonly StoredStep[]): JsonObject {
  const args: Record<string, unknown> = { ...mergeStepInputs(step, step.providedInputs) };
  const errors: Diagnostic[] = [];
  for (const [name, input] of Object.entries(step.inputs)) {
    if (input.mode !== 'from') continue;
    const source = previousSteps.find(({ key }) => key === input.step);
    const value = source?.result && resolvePointer(readStepOutput(source.result), input.pointer);
    if (value === undefined) errors.push({ path: `inputs.${name}`, ...describeMissingOutput(input, source) });
    else args[name] = value;
  }
  if (errors.length > 0) throw new GatewayError('SET_INPUT_UNAVAILABLE', { errors });
  return args;
}

function describeMissingOutput(
  { pointer, step }: { readonly pointer: string; readonly step: string },
  source: StoredStep | undefined,
) {
  return source?.isResultLost
    ? { code: 'result_lost', message: `The result of step "${step}" was too large to store.` }
    : {
        code: 'nothing_there',
        message: `There is no value at "${pointer}" in the output of step "${step}".`,
      };
}

/** The gateway refuses with these codes before it sends anything, although their status is 5xx. */
const notSentCodes: ReadonlySet<ErrorCode> = new Set([
  'AUDIT_UNAVAILABLE',
  'UPSTREAM_AUTH_UNAVAILABLE',
  'UPSTREAM_AUTH_MISCONFIGURED',
  'OBO_TEMPORARY',
  'OBO_EMPTY_RESPONSE',
  'OBO_MISCONFIGURED',
]);

function toFailedAttempt(error: unknown, canRepeat: () => boolean): StepAttempt {
  if (!(error instanceof GatewayError)) return { state: 'uncertain', mayGoOn: canRepeat() };
  const { code, approval, missing, cause } = error;
  const errors = error.errors && [...error.errors];
  const errorFields = { code, ...(errors && { errors }) };
  if (approval)
    return { state: 'waiting', ...errorFields, wait: { kind: 'approval', ...approval }, mayGoOn: true };
  if (missing) {
    const needs = missing.credentials.flatMap((group) => group.needs);
    const signIn = needs.find((need) => need.kind === 'sign_in');
    return { state: 'waiting', ...errorFields, ...(signIn && { wait: toSignInWait(signIn) }), mayGoOn: true };
  }
  // The block was changed after the run started. No later attempt finds the expected version.
  if (code === 'VERSION_CONFLICT') return { state: 'failed', code: 'RUN_BLOCK_CHANGED', mayGoOn: false };
  if (code === 'BLOCK_OUTPUT_INVALID') return { state: 'failed', ...errorFields, mayGoOn: false };
  if (cause instanceof UpstreamError) {
    const { outcome, reason } = cause;
    if (outcome === 'unknown')
      return { state: 'uncertain', ...errorFields, mayGoOn: reason !== 'too_large' && canRepeat() };
    return { state: 'failed', ...errorFields, mayGoOn: outcome !== 'failed' };
  }
  if (httpStatus(code) < 500 || notSentCodes.has(code))
    return { state: 'failed', ...errorFields, mayGoOn: true };
  return { state: 'uncertain', ...errorFields, mayGoOn: canRepeat() };
}

function toSignInWait(signIn: {
  readonly server: string;
  readonly reason: string;
  readonly connectUrl: string;
}) {
  const { server, reason, connectUrl } = signIn;
  return { kind: 'sign_in', server, reason, connectUrl } as const;
}

/** The retry rule of calls with an unknown outcome. */
export function isRetryAllowed(
  parts: SetParts,
  { principal }: Pick<Inbound, 'principal'>,
  block: SavedBlock | null,
): boolean {
  const server = block && parts.registry.get(principal.tenant, block.serverId);
  if (!server) return false;
  const tool = findCachedTool(parts, server, principal, block);
  return canRetry(new UpstreamError('stream_broken'), server, tool);
}

/**
 * The user of the run with the current role. A run continues without its user, so AUTH_REQUIRED stops it if the account was
 * disabled, the user signed out after the run started, or the session or API key that started it was revoked.
 */
export async function reloadRunPrincipal(
  parts: Pick<SetParts, 'users' | 'authenticationStores'> & {
    readonly clock: Pick<SetParts['clock'], 'now'>;
  },
  principal: UserPrincipal,
  startedAt: number,
): Promise<UserPrincipal> {
  const user = await parts.users.findById(principal.userId);
  if (!isActiveUser(user, principal.tenant) || (user.signedOutAt ?? -1) >= startedAt)
    throw new GatewayError('AUTH_REQUIRED');
  const { sessions, apiKeys } = parts.authenticationStores;
  const { authentication } = principal;
  const now = parts.clock.now();
  if (authentication.via === 'api_key') {
    if ((await apiKeys.filterActive([authentication.key], now)).length === 0)
      throw new GatewayError('AUTH_REQUIRED');
  } else {
    // A token of the identity provider has no session. Its expiry does not stop the run.
    const session = authentication.via === 'session' ? authentication.session : authentication.grant?.session;
    if (session !== undefined && (await sessions.filterActive([session], now)).length === 0)
      throw new GatewayError('AUTH_REQUIRED');
  }
  return user.role === principal.role ? principal : Object.freeze({ ...principal, role: user.role });
}
