import type { ChatCall, ConnectNeeded } from '@behalf/contracts';
import type { UpstreamResponse, JsonObject } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { MAX_SIGN_INS_PER_CALL, SIGN_IN_WAIT_MS } from '../limits.ts';
import type { AnswerRun } from '../answerRun.ts';
import type { PendingSignIns } from '../pendingSignIns.ts';
import type { ChatEventWriter } from '../chatEventWriter.ts';

export interface CallWithSignInParts {
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
  attempt: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { callId } = call;
  for (let remainingAttempts = MAX_SIGN_INS_PER_CALL; ; remainingAttempts -= 1) {
    const response = await attempt();
    const connect = findConnectNeeded(response.result, call);
    if (!connect) return response;
    call.connect = connect;
    if (remainingAttempts === 0 || !canWait(run, connect)) {
      await emit('connect', { callId, connect });
      return response;
    }
    const expiresAt = clock.now() + SIGN_IN_WAIT_MS;
    call.state = 'waiting';
    const promptSignIn = () => emit('connect', { callId, connect, expiresAt });
    const outcome = await pendingSignIns.wait(run, callId, expiresAt, promptSignIn);
    if (outcome !== 'connected') return response;
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

/** Said by us alone: what a server says under this name is taken out before. */
function findConnectNeeded({ _meta }: JsonObject, { serverTitle }: ChatCall): ConnectNeeded | undefined {
  const auth = (_meta as JsonObject | undefined)?.['behalf/auth'] as
    { server: string; reason: string; connectUrl: string | null; scopes?: string } | undefined;
  if (!auth) return undefined;
  const { server, reason, connectUrl, scopes } = auth;
  return { server, title: serverTitle, reason, connectUrl, ...(scopes !== undefined && { scopes }) };
}
