import type { ChatCall, ChatProblem, ConnectNeeded, Problem } from '@behalf/contracts';
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
import { toToolResult } from '../../http/signInResult.ts';
import type { ObserveRequest } from '../ops/observeRequest.ts';
import type { AnswerRun, ChatEventWriter } from './answerRuns.ts';
import {
  MAX_DISPLAYED_RESULT_BYTES,
  MAX_SENT_RESULT_LENGTH,
  MAX_SIGN_INS_PER_CALL,
  MAX_STORED_RESULT_BYTES,
  SIGN_IN_WAIT_MS,
} from './limits.ts';
import type { PendingApprovals, PendingSignIns } from './pendingDecisions.ts';
import { type DisplayBudget, fitResult, jsonBytes, toModelText } from './results.ts';

export interface RunCallParts extends CallWithSignInParts {
  readonly callParts: CallParts;
  readonly observe: ObserveRequest;
  readonly inFlight: InFlightLimiter;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly pendingApprovals: PendingApprovals;
  readonly displayBudget: DisplayBudget;
  readonly problemOf: (error: unknown) => { problem: Problem };
}

/** What the calls of one answer have in common. */
export interface ChatCallContext {
  readonly run: AnswerRun;
  /** Who is calling, found out anew: whoever signed out or lost a right meanwhile does nothing more. */
  readonly reauthenticate: () => Promise<UserPrincipal>;
  readonly createInbound: (caller: UserPrincipal) => Inbound;
  readonly emit: ChatEventWriter;
  /** Which call of this answer asked for an approval: when it has ended. Two calls alike are given the same one. */
  readonly approvalRequests: Map<string, Promise<void>>;
}

/** Makes a call and tells how it ended, in `call` and in events. Gives what the model reads; never rejects. */
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

/** More of a result than what is kept of it, to whoever reads now. False where there is no more, or no room for it. */
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
  /** What the model reads. */
  readonly modelText: string;
  /** As the server gave it. */
  readonly result?: JsonObject;
}

async function settleCall(
  parts: RunCallParts,
  context: ChatCallContext,
  call: ChatCall,
): Promise<SettledCall> {
  try {
    const outcome = await callWithSignIn(parts, context, call, () => callWithApproval(parts, context, call));
    const { result } = toToolResult(outcome);
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
    // That they said no is nothing to tell its user.
    if (!(error instanceof ApprovalDenied) || error.outcome === 'expired') call.problem = problem;
    return { modelText: `The call failed: ${problem.detail}${describeFieldErrors(problem)}` };
  }
}

/** The user said no, or nothing in time. */
class ApprovalDenied extends GatewayError {
  readonly outcome: 'denied' | 'expired';
  constructor(outcome: 'denied' | 'expired') {
    const reason = outcome === 'denied' ? 'The user denied it' : 'It was not approved in time';
    super('MCP_APPROVAL_NOT_FOUND', { detail: `${reason}, so the call was not made. Do not repeat it.` });
    this.outcome = outcome;
  }
}

/** Asks its user first where that is wanted, and then again as if for the first time: an approval is good for one run. */
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
        // A call like this one asked already, and what it is given is good for one run. Then this one asks for itself.
        if (identicalCall) await rejectOnAbort(identicalCall, run.signal);
        else {
          approvalRequests.set(approval.id, done);
          await waitForApproval(parts, context, call, approval);
          approvedIds.push(approval.id);
        }
      }
    }
  } finally {
    // The call may have ended before the run that it was good for. Before a call like this one goes on.
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

/** A model can put right what it is told. */
function describeFieldErrors({ errors = [] }: ChatProblem): string {
  const lines = errors.map(({ path, message }) => (message.includes(path) ? message : `${path}: ${message}`));
  return lines.map((line) => `\n- ${line}`).join('');
}

interface CallWithSignInParts {
  readonly pendingSignIns: PendingSignIns;
  readonly clock: Clock;
}

/**
 * Makes a call, and once more after its user has signed in at the server, where that was missing: a person who reads the
 * answer is asked for it and the answer waits. What nobody can do here is a result like any other.
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

/** One at our own identity provider leaves the page, and nobody would be there any more to be answered. */
const GATEWAY_SIGN_IN_PREFIX = '/oauth/';

/** A program with a key or a token reads this too, and has nobody in front of it who could sign in. */
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

/** What a server says of its progress, as far as a person is shown it. */
function toProgress(params: JsonObject): { progress?: number; total?: number; message?: string } {
  const { progress, total, message } = params;
  return {
    ...(typeof progress === 'number' && { progress }),
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message: message.slice(0, MAX_MESSAGE_LENGTH) }),
  };
}
