import { httpStatus, type Diagnostic, type ErrorCode, type KeptStep, type StepWait } from '@behalf/contracts';
import { blockToRun, runStep } from '../blocks/runBlock.ts';
import type { Block } from '../blocks/sealedBlocks.ts';
import { etagOf } from '../configure/ifMatch.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { canRetry } from '../toolcall/recoverFromRefusal.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { knownTool } from '../blocks/runBlock.ts';
import { givenTo } from './checkSet.ts';
import type { RunSetParts } from './parts.ts';
import { atPointer, outputOf } from './stepOutput.ts';

/** What became of one step. */
export interface Attempt extends Pick<KeptStep, 'mayGoOn'> {
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
  step: KeptStep,
  before: readonly KeptStep[],
): Promise<Attempt> {
  let block: Block | null = null;
  try {
    const inputs = gather(step, before);
    block = await blockToRun(parts, inbound.principal, step.block);
    const asked = { principal: inbound.principal, server: step.server, what: `step ${step.key}` };
    const { blockVersion: seen } = step;
    const ifMatch = seen === undefined ? undefined : etagOf(seen);
    const run = { id: step.block, block, inputs, credential: step.credential, ifMatch };
    const { answer, isRefused } = await parts.around({ ...asked, signal: inbound.signal }, () =>
      runStep(parts, run, inbound),
    );
    if (isRefused) return signInFirst(answer.result);
    const { result } = answer;
    // What a tool says about its own failure is known: it ran.
    return { state: result['isError'] === true ? 'failed' : 'succeeded', mayGoOn: false, result };
  } catch (error) {
    return judge(error, () => mayRunAgain(parts, inbound, block));
  }
}

/** What the run brought, what the set fixes, and what earlier steps gave. */
function gather(step: KeptStep, before: readonly KeptStep[]): JsonObject {
  const args: Record<string, unknown> = { ...givenTo(step, step.given) };
  const errors: Diagnostic[] = [];
  for (const [name, input] of Object.entries(step.inputs)) {
    if (input.mode !== 'from') continue;
    const source = before.find(({ key }) => key === input.step);
    const value = source?.result && atPointer(outputOf(source.result), input.pointer);
    if (value === undefined) errors.push({ path: `inputs.${name}`, ...nothingAt(input, source) });
    else args[name] = value;
  }
  if (errors.length > 0) throw new GatewayError('SET_INPUT_UNAVAILABLE', { errors });
  return args;
}

function nothingAt({ pointer, step }: { pointer: string; step: string }, source: KeptStep | undefined) {
  return source?.isResultLost
    ? { code: 'result_lost', message: `The result of step "${step}" was too large to be kept.` }
    : { code: 'nothing_there', message: `Nothing stands at "${pointer}" in the output of step "${step}".` };
}

/** Our own words, never a server's: they lead somewhere. */
function signInFirst(result: JsonObject): Attempt {
  const meta = result['_meta'] as { 'behalf/auth': Record<'server' | 'reason' | 'connectUrl', string> };
  const { server, reason, connectUrl } = meta['behalf/auth'];
  const wait = { kind: 'sign_in', server, reason, connectUrl } as const;
  return { state: 'waiting', code: 'MCP_AUTHORIZATION_REQUIRED', wait, mayGoOn: true };
}

/** Refused by us before anything was sent, although the fault is not the caller's. */
const notSent: ReadonlySet<ErrorCode> = new Set([
  'AUDIT_UNAVAILABLE',
  'UPSTREAM_AUTH_UNAVAILABLE',
  'UPSTREAM_AUTH_MISCONFIGURED',
  'OBO_TEMPORARY',
  'OBO_EMPTY_RESPONSE',
  'OBO_MISCONFIGURED',
]);

function judge(error: unknown, isVouchedFor: () => boolean): Attempt {
  if (!(error instanceof GatewayError)) return { state: 'uncertain', mayGoOn: isVouchedFor() };
  const { code, approval, missing, cause } = error;
  const errors = error.errors && [...error.errors];
  const told = { code, ...(errors && { errors }) };
  if (approval) {
    return { state: 'waiting', ...told, wait: { kind: 'approval', ...approval }, mayGoOn: true };
  }
  if (missing) {
    const need = missing.credentials.flatMap(({ needs }) => needs).find(({ kind }) => kind === 'sign_in');
    const wait = need?.kind === 'sign_in' ? waitFor(need) : undefined;
    return { state: 'waiting', ...told, ...(wait && { wait }), mayGoOn: true };
  }
  // The block is not the one with which the run began. It never will be again.
  if (code === 'VERSION_CONFLICT') return { state: 'failed', code: 'RUN_BLOCK_CHANGED', mayGoOn: false };
  if (code === 'BLOCK_OUTPUT_INVALID') return { state: 'failed', ...told, mayGoOn: false };
  if (cause instanceof UpstreamError) {
    const { outcome, reason } = cause;
    if (outcome === 'unknown') {
      return { state: 'uncertain', ...told, mayGoOn: reason !== 'too_large' && isVouchedFor() };
    }
    return { state: 'failed', ...told, mayGoOn: outcome !== 'failed' };
  }
  if (httpStatus(code) < 500 || notSent.has(code)) return { state: 'failed', ...told, mayGoOn: true };
  return { state: 'uncertain', ...told, mayGoOn: isVouchedFor() };
}

function waitFor({ server, reason, connectUrl }: { server: string; reason: string; connectUrl: string }) {
  return { kind: 'sign_in', server, reason, connectUrl } as const;
}

/** By the rule for calls whose outcome is not known. */
export function mayRunAgain(parts: RunSetParts, { principal }: Inbound, block: Block | null): boolean {
  const server = block && parts.registry.get(principal.tenant, block.serverId);
  if (!server) return false;
  const tool = knownTool(parts, server, principal, block);
  return canRetry(new UpstreamError('stream_broken'), server, tool);
}
