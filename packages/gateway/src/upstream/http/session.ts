import type { PresentedCredential } from '../bearer.ts';
import type { ServerRequests } from '../dialogue.ts';
import type { HeaderValues, ServerClaims, UpstreamRequestOptions, UpstreamResponse } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { isSessionLost, isUnambiguousLoss, toRequestError } from './errors.ts';
import type { LegacyHandshake } from './legacyHandshake.ts';
import type { RequestDeadline } from './requestDeadline.ts';
import { createHeaderCache, serializeRequest } from './serializeRequest.ts';

/** A legacy session, as small as it can be: thousands of them lie idle. */
export interface LegacySession {
  readonly id: string | undefined;
  readonly claims: ServerClaims;
  /** The headers of a POST on this session, without the token of a bearer. */
  readonly headersFor: (caller: Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>) => HeaderValues;
  /** What only this session's own requests carry. */
  readonly sessionHeaders: HeaderValues;
  /** Turned off for good when the server offers no stream. */
  offersStream: boolean;
}

export function createLegacySession(
  { sessionId, claims }: LegacyHandshake,
  configured: HeaderValues,
): LegacySession {
  const sessionHeaders = {
    'mcp-protocol-version': claims.protocolVersion,
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  };
  const protocol = {
    ...sessionHeaders,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    id: sessionId,
    claims,
    headersFor: createHeaderCache(configured, protocol),
    sessionHeaders,
    offersStream: true,
  };
}

interface LegacySessions {
  readonly current: LegacySession;
  /**
   * A session in the place of `lost`. Whoever finds the same one lost shares one hand-shake. `retire`: the server may
   * know it still, and is told that it is not needed any more.
   */
  renew(
    lostSession: LegacySession,
    credential: PresentedCredential,
    options: { readonly retire: boolean },
  ): Promise<LegacySession>;
}

interface LegacySessionsParts {
  readonly open: (credential: PresentedCredential) => Promise<LegacySession>;
  /** Ends a session at the server. */
  readonly retire: (session: LegacySession) => void;
  /** Another one is in its place from now on. */
  readonly onRenewed: () => void;
}

export function createLegacySessions(
  first: LegacySession,
  { open, retire, onRenewed }: LegacySessionsParts,
): LegacySessions {
  let current = first;
  let renewal: Promise<LegacySession> | undefined;
  return {
    get current() {
      return current;
    },
    renew(lostSession, credential, options) {
      // Somebody was faster.
      if (lostSession !== current) return Promise.resolve(current);
      renewal ??= open(credential)
        .then((session) => {
          current = session;
          if (options.retire) retire(lostSession);
          onRenewed();
          return session;
        })
        .finally(() => (renewal = undefined));
      return renewal;
    },
  };
}

export interface SessionSendParts {
  readonly sessions: LegacySessions;
  readonly nextId: () => number;
  /** Sends one request on a session and reads its answer. */
  readonly sendOn: (session: LegacySession, request: SessionRequest) => Promise<UpstreamResponse>;
}

export interface SessionRequest {
  readonly id: number;
  readonly body: string;
  readonly options: UpstreamRequestOptions;
  readonly deadline: RequestDeadline;
  readonly serverRequests?: ServerRequests | undefined;
}

/**
 * Sends, and once more on a new session when the server does not know this one: then nothing ran. Where it does not say
 * so in as many words, the session itself is asked first.
 */
export async function sendWithSessionRenewal(
  parts: SessionSendParts,
  request: SessionRequest,
): Promise<UpstreamResponse> {
  const { sessions, sendOn } = parts;
  const session = sessions.current;
  try {
    return await sendOn(session, request);
  } catch (error) {
    if (!isSessionLost(error)) throw error;
    const sessionFailure = isUnambiguousLoss(error) ? error : await probeSession(parts, session, request);
    if (!sessionFailure) throw toRequestError(error);
    const newSession = await sessions.renew(session, request.options, {
      retire: !isUnambiguousLoss(sessionFailure),
    });
    try {
      return await sendOn(newSession, request);
    } catch (retryError) {
      throw isSessionLost(retryError) && !isUnambiguousLoss(retryError)
        ? toRequestError(retryError)
        : retryError;
    }
  }
}

/** A ping tells whether the session is lost: gives how it was refused, and nothing when it lives. In doubt it lives. */
async function probeSession(
  { nextId, sendOn }: SessionSendParts,
  session: LegacySession,
  { options, deadline }: SessionRequest,
): Promise<UpstreamError | undefined> {
  const id = nextId();
  const ping = {
    id,
    method: 'ping',
    params: {},
    meta: undefined,
    envelope: undefined,
    requestedLogLevel: false,
  };
  const { signal, timeoutMs, totalMs, headers, bearer } = options;
  const pingOptions = { signal, timeoutMs, totalMs, ...(headers && { headers }), ...(bearer && { bearer }) };
  try {
    await sendOn(session, { id, body: serializeRequest(ping), options: pingOptions, deadline });
    return undefined;
  } catch (error) {
    // Without a token nothing was asked, so nothing is known of the session.
    if (!(error instanceof UpstreamError)) throw error;
    return isSessionLost(error) ? error : undefined;
  }
}
