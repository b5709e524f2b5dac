import type { ChatCall, ConnectNeeded } from '@behalf/contracts';
import type { UpstreamResponse, JsonObject } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import { MOST_SIGN_INS_OF_A_CALL, SIGN_IN_WAIT_MS } from '../limits.ts';
import type { Running } from '../running.ts';
import type { SignIns } from '../signIns.ts';
import type { Tell } from '../tell.ts';

export interface SignInFirstParts {
  readonly signIns: SignIns;
  readonly clock: Clock;
}

/**
 * Makes a call, and once more after its user has signed in at the server, where that was missing: a person who reads the
 * answer is asked for it and the answer waits. What nobody can do here is a result like any other.
 */
export async function signInFirst(
  { signIns, clock }: SignInFirstParts,
  { running, tell }: { readonly running: Running; readonly tell: Tell },
  call: ChatCall,
  make: () => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const { callId } = call;
  for (let left = MOST_SIGN_INS_OF_A_CALL; ; left -= 1) {
    const answer = await make();
    const connect = connectIn(answer.result, call);
    if (!connect) return answer;
    call.connect = connect;
    if (left === 0 || !canWait(running, connect)) {
      await tell('connect', { callId, connect });
      return answer;
    }
    const expiresAt = clock.now() + SIGN_IN_WAIT_MS;
    call.state = 'waiting';
    const ask = () => tell('connect', { callId, connect, expiresAt });
    const word = await signIns.wait(running, callId, expiresAt, ask);
    if (word !== 'connected') return answer;
    call.state = 'running';
    delete call.connect;
    await tell('tool_call', { call });
  }
}

/** One at our own identity provider leaves the page, and nobody would be there any more to be answered. */
const LEAVES_THE_PAGE = '/oauth/';

/** A program with a key or a token reads this too, and has nobody in front of it who could sign in. */
function canWait({ owner }: Running, { connectUrl }: ConnectNeeded): boolean {
  return (
    owner.authentication.via === 'session' && connectUrl !== null && !connectUrl.startsWith(LEAVES_THE_PAGE)
  );
}

/** Said by us alone: what a server says under this name is taken out before. */
function connectIn({ _meta }: JsonObject, { serverTitle }: ChatCall): ConnectNeeded | undefined {
  const auth = (_meta as JsonObject | undefined)?.['behalf/auth'] as
    { server: string; reason: string; connectUrl: string | null; scopes?: string } | undefined;
  if (!auth) return undefined;
  const { server, reason, connectUrl, scopes } = auth;
  return { server, title: serverTitle, reason, connectUrl, ...(scopes !== undefined && { scopes }) };
}
