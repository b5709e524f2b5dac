import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { abortReason, toAbortSignal, type Fetch } from '@behalf/kernel';
import { fetchWith, plainHeaders, refuseEmpty, type Presented } from '../bearerHeaders.ts';
import { sessionCapabilities, type Relay } from '../dialogue.ts';
import type { ServerClaims } from '../upstream.ts';
import type { UpstreamParts } from '../parts.ts';
import type { Bearer, RemoteTarget, Token } from '../target.ts';
import { UpstreamError } from '../upstreamError.ts';
import { readClaims } from './claims.ts';
import { classifyStatus } from './classifyStatus.ts';
import { networkFailure } from './networkFailure.ts';
import type { Waiting } from './patience.ts';
import { sendQuietly } from './quietly.ts';
import { answeredError } from './readAnswer.ts';
import { withExtension } from './writeRequest.ts';

export const DELETE_MS = 5_000;
/** Ours is the limit that counts; the SDK's own only must not come first. */
const SDK_SLACK_MS = 60_000;
/** The first request of an SDK client. */
const INITIALIZE_ID = 0;

/** What is left of a legacy hand-shake. */
export interface Handshake {
  readonly sessionId: string | undefined;
  readonly claims: ServerClaims;
}

export interface HandshakeOptions {
  readonly waiting: Waiting;
  readonly timeoutMs: number;
  readonly relay: readonly Relay[] | undefined;
}

/** The SDK would check results against the server's own schemas, whose patterns run on our event loop. */
const believing = {
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
export async function legacyHandshake(
  target: RemoteTarget,
  presented: Presented,
  parts: UpstreamParts,
  { waiting, timeoutMs, relay }: HandshakeOptions,
): Promise<Handshake> {
  const { headers = {}, bearer } = presented;
  const signal = toAbortSignal(waiting.signal);
  /** What the SDK would wrap or lose. Not an UpstreamError where a bearer had no token. */
  let failure: { readonly error: unknown } | undefined;
  const fetch = parts.network.fetchTo(target);
  /** Sees what the SDK's errors leave out: the head of a refusal, and the door's own error. */
  const watched: Fetch = async (url, init) => {
    // A stream is opened when somebody listens, not after each hand-shake.
    if (init?.method === 'GET') return new Response(null, { status: 405 });
    const token = bearer && (await tokenNow(bearer));
    try {
      // Nothing goes out for somebody who has left, not even a cancellation: `initialize` is never cancelled.
      const either = init?.signal ? AbortSignal.any([init.signal, signal]) : signal;
      const sent = { ...init, headers: plainHeaders(init?.headers), signal: either };
      const response = await (token === undefined ? fetch(url, sent) : fetchWith(fetch, url, sent, token));
      if (response.ok) return response;
      const text = await response.text();
      failure = { error: refusal(response, text, target.url, parts) };
      return new Response(text === '' ? null : text, { status: response.status, headers: response.headers });
    } catch (error) {
      failure = { error: networkFailure(error, parts.network.readError) };
      throw error;
    }
  };
  /** One of its own for each request. */
  async function tokenNow(by: Bearer): Promise<Token> {
    try {
      const asked = by.token();
      const token = asked instanceof Promise ? await waiting.forToken(asked) : asked;
      refuseEmpty(token);
      return token;
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const transport = new StreamableHTTPClientTransport(new URL(target.url), {
    fetch: watched,
    requestInit: { headers },
    redirectPolicy: 'follow',
  });
  const client = new Client(
    { name: 'behalf', version: parts.version },
    {
      capabilities: withExtension(sessionCapabilities(relay), bearer?.extension),
      jsonSchemaValidator: believing,
      versionNegotiation: { mode: 'legacy' },
    },
  );
  try {
    await client.connect(transport, { signal, timeout: timeoutMs + SDK_SLACK_MS });
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
    throw asOpening(failure ? failure.error : answered(error));
  } finally {
    await client.close();
  }
}

/** DELETE, best effort: 405 says that sessions end by themselves. */
export function endSession(
  target: RemoteTarget,
  { headers, bearer }: Presented,
  sessionId: string,
  { network, clock }: Pick<UpstreamParts, 'network' | 'clock'>,
): Promise<void> {
  return sendQuietly(
    { send: network.sendTo(target), clock },
    { method: 'DELETE', url: target.url, headers: { ...headers, 'mcp-session-id': sessionId } },
    DELETE_MS,
    bearer,
  );
}

function refusal(
  { status, headers }: Response,
  text: string,
  url: string,
  { clock }: UpstreamParts,
): UpstreamError {
  const header = (name: string) => headers.get(name) ?? undefined;
  return classifyStatus(
    { status, header, text },
    { url, era: 'legacy', id: INITIALIZE_ID, session: false, clock },
  );
}

function answered(error: unknown): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (error instanceof ProtocolError) return answeredError(error, 'legacy');
  return new UpstreamError('garbage', { cause: error });
}

/** Nothing of the caller's was sent yet, so nothing can have run. */
export function asOpening(error: unknown): unknown {
  if (!(error instanceof UpstreamError) || error.outcome !== 'unknown') return error;
  if (error.reason === 'timeout') return new UpstreamError('connect_timeout', error.detail);
  const lost = error.code === 'MCP_OUTCOME_UNCERTAIN';
  return lost ? new UpstreamError('connect_failed', { ...error.detail, cause: error }) : error;
}
