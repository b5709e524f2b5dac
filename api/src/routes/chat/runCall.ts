import type {
  ChatCall,
  ChatEvent,
  ChatEventName,
  ChatProblem,
  ConnectNeeded,
  Problem,
} from '@behalf/contracts';
import {
  type CallOutcome,
  type CallParts,
  GatewayError,
  type Inbound,
  type JsonObject,
  type PendingApproval,
  type SignInRequirement,
  type UserPrincipal,
  callTool,
} from '@behalf/gateway';
import { type Clock, abortReason, rejectOnAbort } from '@behalf/kernel';
import type { InFlightLimiter, RateLimits } from '../../http/limits.ts';
import type { ObserveRequest } from '../../http/inbound.ts';
import { toSignInResult } from '../../http/signInResult.ts';
import type { AnswerRun } from './answerRuns.ts';
import {
  MAX_DISPLAYED_RESULT_BYTES,
  MAX_SENT_RESULT_LENGTH,
  MAX_SIGN_INS_PER_CALL,
  MAX_STORED_RESULT_BYTES,
  SIGN_IN_WAIT_MS,
} from './limits.ts';
import type { PendingApprovals, PendingSignIns } from './pendingDecisions.ts';
import { type DisplayBudget, fitResult, jsonBytes, toModelText } from './results.ts';

type DataOf<N extends ChatEventName> = Extract<ChatEvent, { event: N }>['data'];

/** Sends events of an answer to its client. The promise resolves when the connection has room for more; it never rejects. */
export interface ChatEventWriter {
  <N extends ChatEventName>(event: N, data: DataOf<N>): Promise<void>;
  /** Drops the event if the client does not keep up with reading. */
  writeIfReady<N extends ChatEventName>(event: N, data: DataOf<N>): void;
}

export interface RunCallParts extends CallWithSignInParts {
  readonly callParts: CallParts;
  readonly observe: ObserveRequest;
  readonly inFlight: InFlightLimiter;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly pendingApprovals: PendingApprovals;
  readonly displayBudget: DisplayBudget;
  readonly problemOf: (error: unknown) => { problem: Problem };
}

/** The context that all calls of one answer share. */
export interface ChatCallContext {
  readonly run: AnswerRun;
  /** Authenticates the caller again. Throws if they signed out or lost the permission. */
  readonly reauthenticate: () => Promise<UserPrincipal>;
  readonly createInbound: (caller: UserPrincipal) => Inbound;
  readonly emit: ChatEventWriter;
  /** By approval id: settles when the call that requested it has ended. Identical calls receive the same approval. */
  readonly approvalRequests: Map<string, Promise<void>>;
}

/** Runs a call. Records the outcome in `call` and sends it as an event. Returns the text for the model; never rejects. */
export async function runCall(
  parts: RunCallParts,
  context: ChatCallContext,
  call: ChatCall,
): Promise<string> {
  const { modelText, result } = await settleCall(parts, context, call);
  const isEmitted =
    call.isCut === true && result !== undefined && (await emitFullResult(parts, context, call, result));
  if (!isEmitted) await context.emit('result', { call });
  return modelText;
}

/** Sends a larger part of the result than is stored. Returns false if there is none, or if the display budget is used up. */
async function emitFullResult(
  { displayBudget }: RunCallParts,
  { run, emit }: ChatCallContext,
  call: ChatCall,
  result: JsonObject,
): Promise<boolean> {
  const { isCut: _cut, leftOut: _out, ...rest } = call;
  const displayed = fitResult(result, MAX_DISPLAYED_RESULT_BYTES);
  const bytes = jsonBytes(displayed.result);
  if (bytes <= jsonBytes(call.result)) return false;
  const fullCall: ChatCall = { ...rest, ...displayed, keepsLess: true };
  return displayBudget.send(run.owner, bytes, () => emit('result', { call: fullCall }));
}

interface SettledCall {
  readonly modelText: string;
  /** The complete result. */
  readonly result?: JsonObject;
}

async function settleCall(
  parts: RunCallParts,
  context: ChatCallContext,
  call: ChatCall,
): Promise<SettledCall> {
  try {
    const outcome = await callWithSignIn(parts, context, call, () => callWithApproval(parts, context, call));
    const { result } = outcome.kind === 'auth_required' ? toSignInResult(outcome.signIn) : outcome;
    const stored = fitResult(result, MAX_STORED_RESULT_BYTES);
    Object.assign(call, { state: result['isError'] === true ? 'failed' : 'done', ...stored });
    return { modelText: toModelText(result, MAX_SENT_RESULT_LENGTH), result };
  } catch (error) {
    if (context.run.signal.aborted) {
      call.state = 'cancelled';
      return { modelText: 'The call was stopped.' };
    }
    const problem = toChatProblem(parts.problemOf(error).problem);
    call.state = error instanceof ApprovalDenied ? 'denied' : 'failed';
    // A denial is not an error for the user who denied the call.
    if (!(error instanceof ApprovalDenied) || error.outcome === 'expired') call.problem = problem;
    return { modelText: `The call failed: ${problem.detail}${describeFieldErrors(problem)}` };
  }
}

/** The user denied the call, or did not decide in time. */
class ApprovalDenied extends GatewayError {
  readonly outcome: 'denied' | 'expired';
  constructor(outcome: 'denied' | 'expired') {
    const reason = outcome === 'denied' ? 'The user denied it' : 'It was not approved in time';
    super('MCP_APPROVAL_NOT_FOUND', { detail: `${reason}, so the call was not made. Do not repeat it.` });
    this.outcome = outcome;
  }
}

/** Runs a call. If it requires approval, asks the user and runs it again with all checks. An approval is valid for one run. */
async function callWithApproval(
  parts: RunCallParts,
  context: ChatCallContext,
  call: ChatCall,
): Promise<CallOutcome> {
  const { run, approvalRequests } = context;
  const approvedIds: string[] = [];
  let resolveDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (resolveDone = resolve));
  try {
    for (;;) {
      try {
        return await callOnce(parts, context, call);
      } catch (error) {
        const approval = approvalOf(error);
        if (!approval || run.signal.aborted) throw error;
        const identicalCall = approvalRequests.get(approval.id);
        // An identical call waits for the same approval, which is valid for one run. Afterwards this call requests its own.
        if (identicalCall) await rejectOnAbort(identicalCall, run.signal);
        else {
          approvalRequests.set(approval.id, done);
          await waitForApproval(parts, context, call, approval);
          approvedIds.push(approval.id);
        }
      }
    }
  } finally {
    // If the call ended without using its approval, an identical call must not use it.
    for (const id of approvedIds) await parts.pendingApprovals.withdraw(run, id);
    resolveDone();
    for (const [id, pending] of approvalRequests) if (pending === done) approvalRequests.delete(id);
  }
}

async function callOnce(parts: RunCallParts, context: ChatCallContext, call: ChatCall): Promise<CallOutcome> {
  const { callParts, observe, inFlight, limits, clock } = parts;
  const { callId, server, tool, arguments: args } = call;
  if (context.run.signal.aborted) throw abortReason(context.run.signal);
  const caller = await context.reauthenticate();
  limits.consume(caller, 'calls');
  inFlight.acquire(caller.userId);
  const startedAt = clock.now();
  try {
    const inbound: Inbound = {
      ...context.createInbound(caller),
      onProgress: (params) => context.emit.writeIfReady('progress', { callId, ...toProgress(params) }),
    };
    const { door, signal } = inbound;
    const observation = { caller, door, server, operation: `tool ${tool}`, signal };
    return await observe(observation, () => callTool(callParts, { server, tool, args }, inbound));
  } finally {
    call.durationMs = clock.now() - startedAt;
    inFlight.release(caller.userId);
  }
}

async function waitForApproval(
  { pendingApprovals }: RunCallParts,
  { run, emit }: ChatCallContext,
  call: ChatCall,
  approval: PendingApproval,
): Promise<void> {
  const { callId } = call;
  const { expiresAt } = approval;
  call.state = 'waiting';
  const outcome = await pendingApprovals.wait(run, callId, approval, () =>
    emit('approval', { callId, expiresAt }),
  );
  if (outcome !== 'approved') throw new ApprovalDenied(outcome);
  call.state = 'running';
}

function approvalOf(error: unknown): PendingApproval | undefined {
  return error instanceof GatewayError && error.code === 'MCP_APPROVAL_REQUIRED' ? error.approval : undefined;
}

function toChatProblem({ code, title, detail, errors }: Problem): ChatProblem {
  return { code, title, detail, ...(errors && { errors }) };
}

/** The invalid fields, so that the model can correct them. */
function describeFieldErrors({ errors = [] }: ChatProblem): string {
  const lines = errors.map(({ path, message }) => (message.includes(path) ? message : `${path}: ${message}`));
  return lines.map((line) => `\n- ${line}`).join('');
}

interface CallWithSignInParts {
  readonly pendingSignIns: PendingSignIns;
  readonly clock: Clock;
}

/**
 * Runs a call. If it requires a sign-in, the answer waits until the user has signed in to the server, and runs the call again. If
 * the user cannot sign in here, the required sign-in is the outcome.
 */
export async function callWithSignIn(
  { pendingSignIns, clock }: CallWithSignInParts,
  { run, emit }: { readonly run: AnswerRun; readonly emit: ChatEventWriter },
  call: ChatCall,
  attempt: () => Promise<CallOutcome>,
): Promise<CallOutcome> {
  const { callId } = call;
  for (let remainingAttempts = MAX_SIGN_INS_PER_CALL; ; remainingAttempts -= 1) {
    const outcome = await attempt();
    if (outcome.kind !== 'auth_required') return outcome;
    const connect = toConnectNeeded(outcome.signIn, call);
    call.connect = connect;
    if (remainingAttempts === 0 || !canWait(run, connect)) {
      await emit('connect', { callId, connect });
      return outcome;
    }
    const expiresAt = clock.now() + SIGN_IN_WAIT_MS;
    call.state = 'waiting';
    const promptSignIn = () => emit('connect', { callId, connect, expiresAt });
    const decision = await pendingSignIns.wait(run, callId, expiresAt, promptSignIn);
    if (decision !== 'connected') return outcome;
    call.state = 'running';
    delete call.connect;
    await emit('tool_call', { call });
  }
}

/** A sign-in to the gateway itself leaves the chat page, which ends the answer. */
const GATEWAY_SIGN_IN_PREFIX = '/oauth/';

/** Only a user in a browser can sign in. Programs with an API key or a token cannot. */
function canWait({ owner }: AnswerRun, { connectUrl }: ConnectNeeded): boolean {
  return (
    owner.authentication.via === 'session' &&
    connectUrl !== null &&
    !connectUrl.startsWith(GATEWAY_SIGN_IN_PREFIX)
  );
}

function toConnectNeeded(
  { server, reason, connectUrl, scopes }: SignInRequirement,
  { serverTitle }: ChatCall,
): ConnectNeeded {
  return { server, title: serverTitle, reason, connectUrl, ...(scopes !== undefined && { scopes }) };
}

const MAX_MESSAGE_LENGTH = 500;

/** The progress that the client displays, limited in length. */
function toProgress(params: JsonObject): { progress?: number; total?: number; message?: string } {
  const { progress, total, message } = params;
  return {
    ...(typeof progress === 'number' && { progress }),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: message.slice(0, MAX_MESSAGE_LENGTH) }),
  };
}
