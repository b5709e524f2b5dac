import {
  httpStatus,
  type Diagnostic,
  type ErrorCode,
  type StoredStep,
  type StepWait,
} from '@behalf/contracts';
import { findBlockToRun, runStep } from '../blocks/runBlock.ts';
import type { SavedBlock } from '../blocks/sealedBlocks.ts';
import { toEtag } from '../configure/ifMatch.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { canRetry } from '../toolcall/recoverFromRefusal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { findCachedTool } from '../blocks/runBlock.ts';
import { mergeStepInputs } from './checkSet.ts';
import type { RunSetParts } from './parts.ts';
import { resolvePointer, readStepOutput } from './stepOutput.ts';

/** What became of one step. */
export interface StepAttempt extends Pick<StoredStep, 'mayGoOn'> {
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
export async function attemptStep(
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
    const { response, isRefused } = await parts.meterStep({ ...stepCall, signal: inbound.signal }, () =>
      runStep(parts, request, inbound),
    );
    if (isRefused) return toSignInAttempt(response.result);
    const { result } = response;
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

/** Our own words, never a server's: they lead somewhere. */
function toSignInAttempt(result: JsonObject): StepAttempt {
  const resultMeta = result['_meta'] as { 'behalf/auth': Record<'server' | 'reason' | 'connectUrl', string> };
  const { server, reason, connectUrl } = resultMeta['behalf/auth'];
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
