import { ActiveSet, type Clock, abortReason } from '@behalf/kernel';
import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import { isObject, readClaims } from '../messages.ts';
import type { OpenOptions, RemoteTarget } from '../target.ts';
import type { Era, JsonObject, ServerClaims, Upstream, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { type LegacyHandshake, performLegacyHandshake, toConnectError } from './legacyHandshake.ts';
import { createLegacyUpstream } from './legacyUpstream.ts';
import { createModernUpstream } from './modernUpstream.ts';
import { type InFlightRequests, type RequestDeadline, withRequestDeadline } from './requestDeadline.ts';
import { sendRpc } from './sendRpc.ts';
import {
  MODERN_VERSION,
  createModernEnvelope,
  createModernRequestHeaders,
  mergeRequestHeaders,
  serializeRequest,
} from './serializeRequest.ts';

/**
 * Opens a conversation over streamable HTTP in the newest era that both sides speak. The hand-shake is the SDK's; every
 * request after it is our own POST, which costs a fraction of the SDK's. Throws UpstreamError, or the signal's reason.
 */
export async function openHttpUpstream(
  target: RemoteTarget,
  options: OpenOptions,
  parts: UpstreamParts,
  versionCache: ProtocolVersionCache,
): Promise<Upstream> {
  const { url } = target;
  const negotiated = await negotiate(target, options, parts, versionCache);
  return negotiated.era === 'modern'
    ? // Everybody's requests go through it, so it must not keep the credential of who happened to open it.
      createModernUpstream({ ...target, headers: {}, bearer: undefined }, negotiated.claims, parts, () =>
        versionCache.delete(url),
      )
    : createLegacyUpstream(target, negotiated.handshake, options, parts);
}

type NegotiationResult =
  | { readonly era: 'modern'; readonly claims: ServerClaims }
  | { readonly era: 'legacy'; readonly handshake: LegacyHandshake };

/**
 * Finds out which era a server speaks and opens the conversation. The probe is our own: the SDK's takes 429, a redirect
 * and -32020 for a legacy server, and would keep that verdict.
 */
async function negotiate(
  target: RemoteTarget,
  options: OpenOptions,
  parts: UpstreamParts,
  versionCache: ProtocolVersionCache,
): Promise<NegotiationResult> {
  const limits = { signal: options.signal, timeoutMs: options.initTimeoutMs, totalMs: options.initTimeoutMs };
  const inFlight: InFlightRequests = new ActiveSet();
  const noop = () => undefined;
  try {
    return await withRequestDeadline({ clock: parts.clock, inFlight }, limits, noop, (deadline) =>
      negotiateEra(target, options, parts, versionCache, deadline),
    );
  } catch (error) {
    throw options.signal.aborted ? abortReason(options.signal) : toConnectError(error);
  }
}

async function negotiateEra(
  target: RemoteTarget,
  { era, initTimeoutMs: timeoutMs, relay }: OpenOptions,
  parts: UpstreamParts,
  versionCache: ProtocolVersionCache,
  deadline: RequestDeadline,
): Promise<NegotiationResult> {
  const tryModern = async (): Promise<NegotiationResult | UpstreamError> => {
    const claims = await probeModern(target, parts, deadline);
    if (claims instanceof UpstreamError) return claims;
    versionCache.set(target.url, 'modern');
    return { era: 'modern', claims };
  };
  const openLegacy = async (): Promise<NegotiationResult> => {
    const handshake = await performLegacyHandshake(target, target, parts, { deadline, timeoutMs, relay });
    versionCache.set(target.url, 'legacy');
    return { era: 'legacy', handshake };
  };
  if (era === 'legacy') return openLegacy();
  if (era === 'auto' && versionCache.get(target.url) === 'legacy') {
    try {
      return await openLegacy();
    } catch (error) {
      if (!isLegacyIndication(error)) throw error;
      // It may have learnt the new revision and dropped the old one since.
      versionCache.delete(target.url);
      const result = await tryModern();
      if (result instanceof UpstreamError) throw error;
      return result;
    }
  }
  const result = await tryModern();
  if (!(result instanceof UpstreamError)) return result;
  // It was said to be modern; what it answered shows that it is not.
  if (era === 'modern') throw new UpstreamError('bad_request', result.detail);
  return openLegacy();
}

/**
 * Asks with `server/discover`, never with a call that an old server might run. Gives what the server says of itself,
 * or the answer that shows a legacy one; throws what shows nothing. A server that refuses the version and names the very
 * same among those it takes, as one of several behind one address may while they are updated, is asked once more.
 */
async function probeModern(
  target: RemoteTarget,
  parts: UpstreamParts,
  deadline: RequestDeadline,
): Promise<ServerClaims | UpstreamError> {
  try {
    return await discover(target, parts, deadline);
  } catch (error) {
    if (!acceptsModernVersion(error)) throw error;
    return discover(target, parts, deadline);
  }
}

async function discover(
  target: RemoteTarget,
  parts: UpstreamParts,
  deadline: RequestDeadline,
): Promise<ServerClaims | UpstreamError> {
  const method = 'server/discover';
  const id = 1;
  const envelope = createModernEnvelope(parts.version, target.bearer?.extension);
  try {
    const { result } = await sendRpc(
      {
        send: parts.network.sendTo(target),
        clock: parts.clock,
        readError: parts.network.readError,
        responder: { respond: () => undefined },
        onNotification: () => undefined,
      },
      {
        url: target.url,
        era: 'modern',
        id,
        headers: mergeRequestHeaders(target.headers, {}, createModernRequestHeaders(method, {})),
        bearer: target.bearer,
        body: serializeRequest({
          id,
          method,
          params: {},
          meta: undefined,
          envelope,
          requestedLogLevel: false,
        }),
        hasSession: false,
        onProgress: undefined,
        onLog: undefined,
        serverRequests: undefined,
      },
      deadline,
    );
    return readDiscovery(result) ?? new UpstreamError('invalid_response');
  } catch (error) {
    if (isLegacyIndication(error)) return error;
    throw error;
  }
}

function readDiscovery(result: JsonObject): ServerClaims | undefined {
  const { supportedVersions, capabilities, instructions } = result;
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MODERN_VERSION)) return undefined;
  const meta = isObject(result['_meta']) ? result['_meta'] : {};
  return readClaims('modern', MODERN_VERSION, {
    serverInfo: meta[SERVER_INFO_META_KEY],
    capabilities,
    instructions,
  });
}

/** What a server, or a proxy before it, answers to anything. It says nothing about what it speaks. */
const INCONCLUSIVE_STATUSES: ReadonlySet<number> = new Set([407, 408]);

/**
 * Whether an answer to the probe shows a server that does not speak the modern era. Only what the server itself says of
 * the protocol counts: never a sign-in, a limit, a redirect, a fault, a silence.
 */
function isLegacyIndication(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  const { reason, detail } = error;
  if (reason === 'header_mismatch') return supportsOnlyLegacy(detail.rpc?.data);
  if (detail.status !== undefined && INCONCLUSIVE_STATUSES.has(detail.status)) return false;
  return (
    reason === 'rpc_error' ||
    reason === 'bad_request' ||
    reason === 'wrong_url' ||
    reason === 'invalid_response'
  );
}

/** -32022 with a list of versions none of which is modern. Without a list only a modern server knows the code. */
function supportsOnlyLegacy(data: unknown): boolean {
  const supported = readSupportedVersions(data);
  if (supported.length === 0) return false;
  return supported.every((version) => typeof version === 'string' && version < MODERN_VERSION);
}

const UNSUPPORTED_VERSION = -32_022;

function acceptsModernVersion(error: unknown): boolean {
  const rpc = error instanceof UpstreamError ? error.detail.rpc : undefined;
  return rpc?.code === UNSUPPORTED_VERSION && readSupportedVersions(rpc.data).includes(MODERN_VERSION);
}

function readSupportedVersions(data: unknown): readonly unknown[] {
  const supported = isObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) ? supported : [];
}

/** A legacy verdict works silently for ever on a server that has long learnt the new revision: ask again each day. */
const LEGACY_TTL_MS = 24 * 60 * 60 * 1_000;
const MAX_ENTRIES = 1_000;

/** Which era a server was found to speak, by its URL without the query, which may hold a secret. */
export interface ProtocolVersionCache {
  get(url: string): Era | undefined;
  set(url: string, era: Era): void;
  delete(url: string): void;
}

export function createProtocolVersionCache({ clock }: { clock: Clock }): ProtocolVersionCache {
  /** The least recently used comes first. */
  const entries = new Map<string, { era: Era; foundAt: number }>();

  return {
    get(url) {
      const key = toVersionCacheKey(url);
      const entry = entries.get(key);
      if (!entry) return undefined;
      entries.delete(key);
      if (entry.era === 'legacy' && clock.now() - entry.foundAt >= LEGACY_TTL_MS) return undefined;
      entries.set(key, entry);
      return entry.era;
    },
    set(url, era) {
      const key = toVersionCacheKey(url);
      const existing = entries.get(key);
      entries.delete(key);
      // The day of a legacy verdict begins when it was found, not when it was last used.
      entries.set(key, existing?.era === era ? existing : { era, foundAt: clock.now() });
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string);
    },
    delete: (url) => void entries.delete(toVersionCacheKey(url)),
  };
}

function toVersionCacheKey(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** The newest revision in which a request without a session is understood. */
const SESSIONLESS_PROTOCOL_VERSION = '2025-11-25';

/**
 * A conversation that nobody opened: requests go out without a hand-shake. Some servers guard `initialize` and still
 * show their tools to whoever asks for them.
 */
export function openWithoutSession(
  target: RemoteTarget,
  { server, initTimeoutMs, signal }: { server: string; initTimeoutMs: number; signal: AbortSignal },
  parts: UpstreamParts,
): Upstream {
  const claims = {
    era: 'legacy',
    protocolVersion: SESSIONLESS_PROTOCOL_VERSION,
    name: '',
    version: '',
    instructions: undefined,
    capabilities: { tools: {} },
  } as const;
  const options = { server, owner: undefined, era: 'legacy', initTimeoutMs, signal } as const;
  return createLegacyUpstream(target, { sessionId: undefined, claims }, options, parts);
}
