import type { ChatCall, ChatProblem, Problem } from '@behalf/contracts';
import {
  callTool,
  GatewayError,
  type UpstreamResponse,
  type CallParts,
  type Inbound,
  type JsonObject,
  type PendingApproval,
  type UserPrincipal,
} from '@behalf/gateway';
import { abortReason, unlessAborted } from '@behalf/kernel';
import type { RateLimits } from '../../door/rateLimits.ts';
import type { InFlight } from '../../rest/mcp/inFlight.ts';
import type { Observing } from '../../rest/mcp/observing.ts';
import type { Decisions } from '../decisions.ts';
import { LARGEST_KEPT_RESULT, LARGEST_SHOWN_RESULT, LONGEST_RESULT_SENT } from '../limits.ts';
import type { Running } from '../running.ts';
import type { Tell } from '../tell.ts';
import { fitResult, sizeOf } from './fitResult.ts';
import { progressOf } from './progressOf.ts';
import { resultText } from './resultText.ts';
import type { Showing } from './showing.ts';
import { signInFirst, type SignInFirstParts } from './signInFirst.ts';

export interface RunCallParts extends SignInFirstParts {
  readonly asking: CallParts;
  readonly observe: Observing;
  readonly inFlight: InFlight;
  readonly limits: Pick<RateLimits, 'take'>;
  readonly decisions: Decisions;
  readonly showing: Showing;
  readonly problemOf: (error: unknown) => { problem: Problem };
}

/** What the calls of one answer have in common. */
export interface CallContext {
  readonly running: Running;
  /** Who is calling, found out anew: whoever signed out or lost a right meanwhile does nothing more. */
  readonly caller: () => Promise<UserPrincipal>;
  readonly inbound: (caller: UserPrincipal) => Inbound;
  readonly tell: Tell;
  /** Which call of this answer asked for an approval: when it has ended. Two calls alike are given the same one. */
  readonly asked: Map<string, Promise<void>>;
}

/** Makes a call and tells how it ended, in `call` and in events. Gives what the model reads; never rejects. */
export async function runCall(parts: RunCallParts, context: CallContext, call: ChatCall): Promise<string> {
  const { said, result } = await ended(parts, context, call);
  const isTold =
    call.isCut === true && result !== undefined && (await tellMore(parts, context, call, result));
  if (!isTold) await context.tell('result', { call });
  return said;
}

/** More of a result than what is kept of it, to whoever reads now. False where there is no more, or no room for it. */
async function tellMore(
  { showing }: RunCallParts,
  { running, tell }: CallContext,
  call: ChatCall,
  result: JsonObject,
): Promise<boolean> {
  const { isCut: _cut, leftOut: _out, ...rest } = call;
  const shown = fitResult(result, LARGEST_SHOWN_RESULT);
  const bytes = sizeOf(shown.result);
  if (bytes <= sizeOf(call.result)) return false;
  const more: ChatCall = { ...rest, ...shown, keepsLess: true };
  return showing.send(running.owner, bytes, () => tell('result', { call: more }));
}

interface Ended {
  /** What the model reads. */
  readonly said: string;
  /** As the server gave it. */
  readonly result?: JsonObject;
}

async function ended(parts: RunCallParts, context: CallContext, call: ChatCall): Promise<Ended> {
  try {
    const { result } = await signInFirst(parts, context, call, () => attempts(parts, context, call));
    const kept = fitResult(result, LARGEST_KEPT_RESULT);
    Object.assign(call, { state: result['isError'] === true ? 'failed' : 'done', ...kept });
    return { said: resultText(result, LONGEST_RESULT_SENT), result };
  } catch (error) {
    if (context.running.signal.aborted) {
      call.state = 'cancelled';
      return { said: 'The call was stopped.' };
    }
    const problem = problemIn(parts.problemOf(error).problem);
    call.state = error instanceof NotAllowed ? 'denied' : 'failed';
    // That they said no is nothing to tell its user.
    if (!(error instanceof NotAllowed) || error.word === 'expired') call.problem = problem;
    return { said: `The call failed: ${problem.detail}${wrongFields(problem)}` };
  }
}

/** The user said no, or nothing in time. */
class NotAllowed extends GatewayError {
  readonly word: 'denied' | 'expired';
  constructor(word: 'denied' | 'expired') {
    const why = word === 'denied' ? 'The user did not allow it' : 'Nobody approved it in time';
    super('MCP_APPROVAL_NOT_FOUND', { detail: `${why}, so the call was not made. Do not repeat it.` });
    this.word = word;
  }
}

/** Asks its user first where that is wanted, and then again as if for the first time: an approval is good for one run. */
async function attempts(
  parts: RunCallParts,
  context: CallContext,
  call: ChatCall,
): Promise<UpstreamResponse> {
  const { running, asked } = context;
  const allowed: string[] = [];
  let over: () => void = () => undefined;
  const untilOver = new Promise<void>((resolve) => (over = resolve));
  try {
    for (;;) {
      try {
        return await attempt(parts, context, call);
      } catch (error) {
        const approval = approvalIn(error);
        if (!approval || running.signal.aborted) throw error;
        const twin = asked.get(approval.id);
        // A call like this one asked already, and what it is given is good for one run. Then this one asks for itself.
        if (twin) await unlessAborted(twin, running.signal);
        else {
          asked.set(approval.id, untilOver);
          await approved(parts, context, call, approval);
          allowed.push(approval.id);
        }
      }
    }
  } finally {
    // The call may have ended before the run that it was good for. Before a call like this one goes on.
    for (const id of allowed) await parts.decisions.withdraw(running, id);
    over();
    for (const [id, asking] of asked) if (asking === untilOver) asked.delete(id);
  }
}

async function attempt(parts: RunCallParts, context: CallContext, call: ChatCall): Promise<UpstreamResponse> {
  const { asking, observe, inFlight, limits, clock } = parts;
  const { callId, server, tool, arguments: args } = call;
  if (context.running.signal.aborted) throw abortReason(context.running.signal);
  const caller = await context.caller();
  limits.take(caller, 'calls');
  inFlight.enter(caller.userId);
  const begun = clock.now();
  try {
    const inbound: Inbound = {
      ...context.inbound(caller),
      onProgress: (params) => context.tell.hint('progress', { callId, ...progressOf(params) }),
    };
    const { door, signal } = inbound;
    const watched = { caller, door, server, what: `tool ${tool}`, signal };
    return await observe(watched, () => callTool(asking, { server, tool, args }, inbound));
  } finally {
    call.durationMs = clock.now() - begun;
    inFlight.leave(caller.userId);
  }
}

async function approved(
  { decisions }: RunCallParts,
  { running, tell }: CallContext,
  call: ChatCall,
  approval: PendingApproval,
): Promise<void> {
  const { callId } = call;
  const { expiresAt } = approval;
  call.state = 'waiting';
  const word = await decisions.wait(running, callId, approval, () => tell('approval', { callId, expiresAt }));
  if (word !== 'approved') throw new NotAllowed(word);
  call.state = 'running';
}

function approvalIn(error: unknown): PendingApproval | undefined {
  return error instanceof GatewayError && error.code === 'MCP_APPROVAL_REQUIRED' ? error.approval : undefined;
}

function problemIn({ code, title, detail, errors }: Problem): ChatProblem {
  return { code, title, detail, ...(errors && { errors }) };
}

/** A model can put right what it is told. */
function wrongFields({ errors = [] }: ChatProblem): string {
  const lines = errors.map(({ path, message }) => (message.includes(path) ? message : `${path}: ${message}`));
  return lines.map((line) => `\n- ${line}`).join('');
}
