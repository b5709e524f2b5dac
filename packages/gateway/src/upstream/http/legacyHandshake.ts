import {
  type Clock,
  type Fetch,
  type Send,
  type SendRequest,
  type SendResponse,
  abortReason,
  toAbortSignal,
} from '@behalf/kernel';
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type PresentedCredential,
  assertTokenPresent,
  fetchWithToken,
  sendWithCredential,
  toPlainHeaders,
} from '../bearer.ts';
import { type RelayedCapability, buildSessionCapabilities } from '../dialogue.ts';
import { classifyRpcError, readClaims } from '../messages.ts';
import type { Bearer, RemoteTarget, WireToken } from '../target.ts';
import type { ServerClaims, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { classifyNetworkError, classifyStatus } from './errors.ts';
import type { RequestDeadline } from './requestDeadline.ts';
import { withExtension } from './serializeRequest.ts';

const DELETE_TIMEOUT_MS = 5_000;
/** Ours is the limit that counts; the SDK's own only must not come first. */
const SDK_EXTRA_TIMEOUT_MS = 60_000;
/** The first request of an SDK client. */
const INITIALIZE_ID = 0;

/** What is left of a legacy hand-shake. */
export interface LegacyHandshake {
  readonly sessionId: string | undefined;
  readonly claims: ServerClaims;
}

interface HttpHandshakeOptions {
  readonly deadline: RequestDeadline;
  readonly timeoutMs: number;
  readonly relay: readonly RelayedCapability[] | undefined;
}

/** The SDK would check results against the server's own schemas, whose patterns run on our event loop. */
const acceptAllValidator = {
  getValidator: () => (data: unknown) => ({
    valid: true as const,
    data: data as never,
    errorMessage: undefined,
  }),
};

/**
 * `initialize` and `notifications/initialized`, with the SDK's client. It is let go afterwards without ending the
 * session: an idle client costs more than everything else that a connection keeps.
 */
export async function performLegacyHandshake(
  target: RemoteTarget,
  presented: PresentedCredential,
  parts: UpstreamParts,
  { deadline, timeoutMs, relay }: HttpHandshakeOptions,
): Promise<LegacyHandshake> {
  const { headers = {}, bearer } = presented;
  const signal = toAbortSignal(deadline.signal);
  /** What the SDK would wrap or lose. Not an UpstreamError where a bearer had no token. */
  let failure: { readonly error: unknown } | undefined;
  const fetch = parts.network.fetchTo(target);
  /** Sees what the SDK's errors leave out: the head of a refusal, and the door's own error. */
  const observedFetch: Fetch = async (url, init) => {
    // A stream is opened when somebody listens, not after each hand-shake.
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const token = bearer && (await acquireCurrentToken(bearer));
    try {
      // Nothing goes out for somebody who has left, not even a cancellation: `initialize` is never cancelled.
      const combinedSignal = init?.signal ? AbortSignal.any([init.signal, signal]) : signal;
      const requestInit = { ...init, headers: toPlainHeaders(init?.headers), signal: combinedSignal };
      const response = await (token === undefined
        ? fetch(url, requestInit)
        : fetchWithToken(fetch, url, requestInit, token));
      if (response.ok) return response;
      const text = await response.text();
      failure = { error: toStatusError(response, text, target.url, parts) };
      return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
    } catch (error) {
      failure = { error: classifyNetworkError(error, parts.network.readError) };
      throw error;
    }
  };
  /** One of its own for each request. */
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
    // Nobody would end the session of somebody who left meanwhile.
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

/** DELETE, best effort: 405 says that sessions end by themselves. */
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

function toStatusError(
  { status, headers }: Response,
  text: string,
  url: string,
  { clock }: UpstreamParts,
): UpstreamError {
  const header = (name: string) => headers.get(name) ?? undefined;
  return classifyStatus(
    { status, header, text },
    { url, era: 'legacy', id: INITIALIZE_ID, hasSession: false, clock },
  );
}

function toHandshakeError(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (error instanceof ProtocolError) return classifyRpcError(error, 'legacy');
  return new UpstreamError('invalid_response', { cause: error });
}

/** Nothing of the caller's was sent yet, so nothing can have run. */
export function toConnectError(error: unknown): unknown {
  if (!(error instanceof UpstreamError) || error.outcome !== 'unknown') return error;
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', error.detail);
  const isUncertain = error.code === 'MCP_OUTCOME_UNCERTAIN';
  return isUncertain ? new UpstreamError('connect_failed', { ...error.detail, cause: error }) : error;
}

/**
 * Sends something whose outcome nobody waits for or needs. It takes at most `limitMs`, and never fails. It is over when
 * the exchange is, not with the head of the answer: who counts these counts sockets. Without a token from the bearer it
 * is not sent.
 */
export async function sendBestEffort(
  { send, clock }: { readonly send: Send; readonly clock: Clock },
  request: Omit<SendRequest, 'signal'>,
  timeoutMs: number,
  bearer: Bearer | undefined,
): Promise<void> {
  const abortController = new AbortController();
  let onTimeout: () => void = () => undefined;
  const timeout = new Promise<void>((resolve) => (onTimeout = resolve));
  const cancelTimer = clock.timer(timeoutMs, () => {
    abortController.abort();
    onTimeout();
  });
  async function post(): Promise<SendResponse> {
    const { signal } = abortController;
    signal.throwIfAborted();
    return sendWithCredential(send, { ...request, signal }, bearer);
  }
  const sent = post().then(
    (reply) => reply.discard(),
    () => undefined,
  );
  // A door that does not heed the signal holds nobody up either.
  await Promise.race([sent, timeout]);
  cancelTimer();
}
