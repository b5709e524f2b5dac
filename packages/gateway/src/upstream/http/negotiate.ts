import { ActiveSet, abortReason, isObject } from '@behalf/kernel';
import { MODERN_VERSION, readDiscovery } from '../messages.ts';
import type { ProtocolVersionCache } from '../protocolVersionCache.ts';
import { type RequestDeadline, withRequestDeadline } from '../requestDeadline.ts';
import type { OpenOptions, RemoteTarget } from '../target.ts';
import type { ServerClaims, Upstream, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { type LegacyHandshake, performLegacyHandshake, toConnectError } from './legacyHandshake.ts';
import { createLegacyUpstream } from './legacyUpstream.ts';
import { createModernUpstream } from './modernUpstream.ts';
import { sendRpc } from './sendRpc.ts';
import {
  createModernEnvelope,
  createModernRequestHeaders,
  mergeRequestHeaders,
  serializeRequest,
} from './serializeRequest.ts';

/**
 * Opens an upstream over streamable HTTP in the newest era that both sides support. The legacy handshake uses the SDK.
 * All other requests are our own POSTs, at a fraction of the cost. Throws `UpstreamError` or the abort reason.
 *
 * The probe does not use the SDK, which takes 429, a redirect and -32020 for signs of a legacy server.
 */
export async function openHttpUpstream(
  target: RemoteTarget,
  options: OpenOptions,
  parts: UpstreamParts,
  versionCache: ProtocolVersionCache,
): Promise<Upstream> {
  // No closure here may use `target`: `onEraMismatch` lives as long as the upstream and shares its scope.
  const { url } = target;
  const negotiated = await negotiate(target, options, parts, versionCache);
  if (negotiated.era === 'legacy') return createLegacyUpstream(target, negotiated.handshake, options, parts);
  // All users share a modern upstream, so it must not keep the credential of the user who opened it.
  const sharedTarget = { ...target, headers: {}, bearer: undefined };
  return createModernUpstream(sharedTarget, negotiated.claims, parts, () => versionCache.delete(url));
}

type NegotiationResult =
  | { readonly era: 'modern'; readonly claims: ServerClaims }
  | { readonly era: 'legacy'; readonly handshake: LegacyHandshake };

async function negotiate(
  target: RemoteTarget,
  options: OpenOptions,
  parts: UpstreamParts,
  versionCache: ProtocolVersionCache,
): Promise<NegotiationResult> {
  const { signal, initTimeoutMs } = options;
  try {
    return await withRequestDeadline(
      { clock: parts.clock, inFlight: new ActiveSet() },
      { signal, timeoutMs: initTimeoutMs, totalMs: initTimeoutMs },
      () => undefined,
      (deadline) => negotiateEra(target, options, parts, versionCache, deadline),
    );
  } catch (error) {
    throw signal.aborted ? abortReason(signal) : toConnectError(error);
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
      // The server may have replaced the legacy revision by the modern one.
      versionCache.delete(target.url);
      const result = await tryModern();
      if (result instanceof UpstreamError) throw error;
      return result;
    }
  }
  const result = await tryModern();
  if (!(result instanceof UpstreamError)) return result;
  // The definition requires the modern era, and the server does not support it.
  if (era === 'modern') throw new UpstreamError('bad_request', result.detail);
  return openLegacy();
}

/**
 * Probes with `server/discover`, which no legacy server runs. Returns the claims, or the error that indicates a legacy
 * server; throws inconclusive errors. During an update, one of several servers behind an address may reject the version
 * that another accepts: an error that lists the modern version causes one retry.
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
  { network, clock, version }: UpstreamParts,
  deadline: RequestDeadline,
): Promise<ServerClaims | UpstreamError> {
  const method = 'server/discover';
  const id = 1;
  const { url, headers, bearer } = target;
  const envelope = createModernEnvelope(version, bearer?.extension);
  try {
    const { result } = await sendRpc(
      {
        send: network.sendTo(target),
        clock,
        readError: network.readError,
        responder: { respond: () => undefined },
        onNotification: () => undefined,
      },
      {
        url,
        era: 'modern',
        id,
        headers: mergeRequestHeaders(headers, {}, createModernRequestHeaders(method, {})),
        bearer,
        body: serializeRequest({ id, method, params: {}, envelope }),
        hasSession: false,
      },
      deadline,
    );
    return readDiscovery(result) ?? new UpstreamError('invalid_response');
  } catch (error) {
    if (isLegacyIndication(error)) return error;
    throw error;
  }
}

/** Proxies return these statuses for any request. */
const INCONCLUSIVE_STATUSES: ReadonlySet<number> = new Set([407, 408]);

/**
 * Whether an error of the probe indicates a server without the modern era. Authentication errors, rate limits,
 * redirects, server errors and timeouts say nothing about the protocol.
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

/** -32022 with a list of legacy versions only. Without a list: only modern servers use this code. */
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

/** The newest legacy revision. Servers accept requests of it without a session. */
const SESSIONLESS_PROTOCOL_VERSION = '2025-11-25';

/**
 * Creates an upstream without a handshake. Some servers require authentication for `initialize` but return their tool
 * list without it.
 */
export function openWithoutSession(
  target: RemoteTarget,
  { server, initTimeoutMs }: Pick<OpenOptions, 'server' | 'initTimeoutMs'>,
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
  const options = { server, owner: undefined, initTimeoutMs };
  return createLegacyUpstream(target, { sessionId: undefined, claims }, options, parts);
}
