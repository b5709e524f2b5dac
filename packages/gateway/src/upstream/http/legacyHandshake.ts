import {
  type Clock,
  type Fetch,
  type Send,
  type SendRequest,
  abortReason,
  toAbortSignal,
} from '@behalf/kernel';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type PresentedCredential,
  assertTokenPresent,
  fetchWithToken,
  sendWithCredential,
} from '../bearer.ts';
import { type RelayedCapability, buildSessionCapabilities } from '../dialogue.ts';
import { classifyRpcError, readClaims } from '../messages.ts';
import type { RequestDeadline } from '../requestDeadline.ts';
import type { Bearer, RemoteTarget, WireToken } from '../target.ts';
import type { ServerClaims, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { classifyNetworkError, classifyResponse } from './errors.ts';
import { withExtension } from './serializeRequest.ts';

const DELETE_TIMEOUT_MS = 5_000;
/** Our own deadline applies. The timeout of the SDK must not expire before it. */
const SDK_EXTRA_TIMEOUT_MS = 60_000;
/** Id of the first request of an SDK client. */
const INITIALIZE_ID = 0;

export interface LegacyHandshake {
  readonly sessionId: string | undefined;
  readonly claims: ServerClaims;
}

/** Replaces the validator of the SDK, which would run regular expressions of the server on our event loop. */
const acceptAllValidator = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
};

/**
 * Sends `initialize` and `notifications/initialized` with the client of the SDK. The client is closed afterwards without
 * ending the session, because it needs more memory than the rest of an idle connection.
 */
export async function performLegacyHandshake(
  target: RemoteTarget,
  presented: PresentedCredential,
  parts: UpstreamParts,
  options: {
    readonly deadline: RequestDeadline;
    readonly timeoutMs: number;
    readonly relay: readonly RelayedCapability[] | undefined;
  },
): Promise<LegacyHandshake> {
  const { headers = {}, bearer } = presented;
  const { deadline, timeoutMs, relay } = options;
  const signal = toAbortSignal(deadline.signal);
  /** The original failure, which the SDK would wrap or drop. If a bearer had no token, it is not an UpstreamError. */
  let failure: { readonly error: unknown } | undefined;
  const fetch = parts.network.fetchTo(target);

  /** Records the status, headers and network errors that errors of the SDK leave out. */
  const observedFetch: Fetch = async (url, init) => {
    // The SDK opens a GET stream after the handshake. We open one when it has listeners.
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const token = bearer && (await acquireCurrentToken(bearer));
    try {
      // Nothing is sent after the caller aborted, not even a cancellation: `initialize` must not be canceled.
      const combinedSignal = init?.signal ? AbortSignal.any([init.signal, signal]) : signal;
      const response = await fetchWithToken(fetch, url, { ...init, signal: combinedSignal }, token);
      if (response.ok) return response;
      const text = await response.text();
      const failedRequest = { url: target.url, era: 'legacy', id: INITIALIZE_ID, hasSession: false } as const;
      failure = { error: classifyResponse(response, text, { ...failedRequest, clock: parts.clock }) };
      return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
    } catch (error) {
      failure = { error: classifyNetworkError(error, parts.network.readError) };
      throw error;
    }
  };

  async function acquireCurrentToken(source: Bearer): Promise<WireToken> {
    try {
      const tokenResult = source.token();
      const token = tokenResult instanceof Promise ? await deadline.waitForToken(tokenResult) : tokenResult;
      assertTokenPresent(token);
      return token;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }

  const transport = new StreamableHTTPClientTransport(new URL(target.url), {
    fetch: observedFetch,
    requestInit: { headers },
    redirectPolicy: 'follow',
  });
  const client = new Client(
    { name: 'behalf', version: parts.version },
    {
      capabilities: withExtension(buildSessionCapabilities(relay), bearer?.extension),
      jsonSchemaValidator: acceptAllValidator,
      versionNegotiation: { mode: 'legacy' },
    },
  );
  try {
    await client.connect(transport, { signal, timeout: timeoutMs + SDK_EXTRA_TIMEOUT_MS });
    // If the caller aborted, the session must be ended below.
    signal.throwIfAborted();
    const claims = readClaims('legacy', transport.protocolVersion ?? '', {
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions(),
    });
    return { sessionId: transport.sessionId, claims };
  } catch (error) {
    if (transport.sessionId !== undefined) void endSession(target, presented, transport.sessionId, parts);
    if (signal.aborted) throw abortReason(signal);
    throw toConnectError(failure ? failure.error : toHandshakeError(error));
  } finally {
    await client.close();
  }
}

/** Sends DELETE, best effort. A server that does not support it responds 405. */
export function endSession(
  target: RemoteTarget,
  { headers, bearer }: PresentedCredential,
  sessionId: string,
  { network, clock }: Pick<UpstreamParts, 'network' | 'clock'>,
): Promise<void> {
  return sendBestEffort(
    { send: network.sendTo(target), clock },
    { method: 'DELETE', url: target.url, headers: { ...headers, 'mcp-session-id': sessionId } },
    DELETE_TIMEOUT_MS,
    bearer,
  );
}

function toHandshakeError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (error instanceof ProtocolError) return classifyRpcError(error, 'legacy');
  return new UpstreamError('invalid_response', { cause: error });
}

/** No request of a caller was sent yet, so the outcome is never unknown. */
export function toConnectError(error: unknown): unknown {
  if (!(error instanceof UpstreamError) || error.outcome !== 'unknown') return error;
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', error.detail);
  const isUncertain = error.code === 'MCP_OUTCOME_UNCERTAIN';
  return isUncertain ? new UpstreamError('connect_failed', { ...error.detail, cause: error }) : error;
}

/**
 * Sends a request whose outcome does not matter. Takes at most `timeoutMs` and never fails. If the bearer has no token,
 * nothing is sent. Resolves when the whole response has ended, so that callers can limit the number of open sockets.
 */
export async function sendBestEffort(
  { send, clock }: { readonly send: Send; readonly clock: Clock },
  request: Omit<SendRequest, 'signal'>,
  timeoutMs: number,
  bearer: Bearer | undefined,
): Promise<void> {
  const abortController = new AbortController();
  const { signal } = abortController;
  let onTimeout: () => void = () => undefined;
  const timeout = new Promise<void>((resolve) => (onTimeout = resolve));
  const cancelTimer = clock.timer(timeoutMs, () => {
    abortController.abort();
    onTimeout();
  });
  const sent = sendWithCredential(send, { ...request, signal }, bearer).then(
    (reply) => reply.discard(),
    () => undefined,
  );
  // A `send` that ignores the signal must not delay the caller.
  await Promise.race([sent, timeout]);
  cancelTimer();
}
