import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/client';
import { abortReason, Roster } from '@behalf/kernel';
import type { UpstreamParts } from '../parts.ts';
import type { OpenOptions, RemoteTarget } from '../target.ts';
import type { Json, ServerClaims } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { readClaims } from './claims.ts';
import { converse } from './converse.ts';
import type { EraVerdicts } from './eraVerdicts.ts';
import { asOpening, legacyHandshake, type Handshake } from './handshake.ts';
import { MODERN_VERSION, modernHeaders } from './modernHeaders.ts';
import { waitFor, type InFlight, type Waiting } from './patience.ts';
import { isObject } from './readAnswer.ts';
import { requestHeaders } from './requestHeaders.ts';
import { modernEnvelope, writeRequest } from './writeRequest.ts';

export type Opening =
  | { readonly era: 'modern'; readonly claims: ServerClaims }
  | { readonly era: 'legacy'; readonly handshake: Handshake };

/**
 * Finds out which era a server speaks and opens the conversation. The probe is our own: the SDK's takes 429, a redirect
 * and -32020 for a legacy server, and would keep that verdict.
 */
export async function negotiate(
  target: RemoteTarget,
  options: OpenOptions,
  parts: UpstreamParts,
  eras: EraVerdicts,
): Promise<Opening> {
  const limits = { signal: options.signal, timeoutMs: options.initTimeoutMs, totalMs: options.initTimeoutMs };
  const inFlight: InFlight = new Roster();
  const nothing = () => undefined;
  try {
    return await waitFor({ clock: parts.clock, inFlight }, limits, nothing, (waiting) =>
      decide(target, options, parts, eras, waiting),
    );
  } catch (error) {
    throw options.signal.aborted ? abortReason(options.signal) : asOpening(error);
  }
}

async function decide(
  target: RemoteTarget,
  { era, initTimeoutMs: timeoutMs, relay }: OpenOptions,
  parts: UpstreamParts,
  eras: EraVerdicts,
  waiting: Waiting,
): Promise<Opening> {
  const modern = async (): Promise<Opening | UpstreamError> => {
    const claims = await probe(target, parts, waiting);
    if (claims instanceof UpstreamError) return claims;
    eras.keep(target.url, 'modern');
    return { era: 'modern', claims };
  };
  const legacy = async (): Promise<Opening> => {
    const handshake = await legacyHandshake(target, target, parts, { waiting, timeoutMs, relay });
    eras.keep(target.url, 'legacy');
    return { era: 'legacy', handshake };
  };
  if (era === 'legacy') return legacy();
  if (era === 'auto' && eras.find(target.url) === 'legacy') {
    try {
      return await legacy();
    } catch (error) {
      if (!isEvidence(error)) throw error;
      // It may have learnt the new revision and dropped the old one since.
      eras.forget(target.url);
      const opening = await modern();
      if (opening instanceof UpstreamError) throw error;
      return opening;
    }
  }
  const opening = await modern();
  if (!(opening instanceof UpstreamError)) return opening;
  // It was said to be modern; what it answered shows that it is not.
  if (era === 'modern') throw new UpstreamError('bad_request', opening.detail);
  return legacy();
}

/**
 * Asks with `server/discover`, never with a call that an old server might run. Gives what the server says of itself,
 * or the answer that shows a legacy one; throws what shows nothing. A server that refuses the version and names the very
 * same among those it takes, as one of several behind one address may while they are updated, is asked once more.
 */
async function probe(
  target: RemoteTarget,
  parts: UpstreamParts,
  waiting: Waiting,
): Promise<ServerClaims | UpstreamError> {
  try {
    return await discover(target, parts, waiting);
  } catch (error) {
    if (!takesOurs(error)) throw error;
    return discover(target, parts, waiting);
  }
}

async function discover(
  target: RemoteTarget,
  parts: UpstreamParts,
  waiting: Waiting,
): Promise<ServerClaims | UpstreamError> {
  const method = 'server/discover';
  const id = 1;
  const envelope = modernEnvelope(parts.version, target.bearer?.extension);
  try {
    const { result } = await converse(
      {
        send: parts.network.sendTo(target),
        clock: parts.clock,
        readError: parts.network.readError,
        answerer: { answer: () => undefined },
        onNotice: () => undefined,
      },
      {
        url: target.url,
        era: 'modern',
        id,
        headers: requestHeaders(target.headers, {}, modernHeaders(method, {})),
        bearer: target.bearer,
        body: writeRequest({ id, method, params: {}, meta: undefined, envelope, wantsLog: false }),
        session: false,
        onProgress: undefined,
        onLog: undefined,
        questions: undefined,
      },
      waiting,
    );
    return readDiscovery(result) ?? new UpstreamError('garbage');
  } catch (error) {
    if (isEvidence(error)) return error;
    throw error;
  }
}

function readDiscovery(result: Json): ServerClaims | undefined {
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
const SILENT_STATUSES: ReadonlySet<number> = new Set([407, 408]);

/**
 * Whether an answer to the probe shows a server that does not speak the modern era. Only what the server itself says of
 * the protocol counts: never a sign-in, a limit, a redirect, a fault, a silence.
 */
function isEvidence(error: unknown): error is UpstreamError {
  if (!(error instanceof UpstreamError)) return false;
  const { reason, detail } = error;
  if (reason === 'header_mismatch') return onlyLegacy(detail.rpc?.data);
  if (detail.status !== undefined && SILENT_STATUSES.has(detail.status)) return false;
  return reason === 'rpc_error' || reason === 'bad_request' || reason === 'wrong_url' || reason === 'garbage';
}

/** -32022 with a list of versions none of which is modern. Without a list only a modern server knows the code. */
function onlyLegacy(data: unknown): boolean {
  const supported = supportedIn(data);
  if (supported.length === 0) return false;
  return supported.every((version) => typeof version === 'string' && version < MODERN_VERSION);
}

const UNSUPPORTED_VERSION = -32_022;

function takesOurs(error: unknown): boolean {
  const rpc = error instanceof UpstreamError ? error.detail.rpc : undefined;
  return rpc?.code === UNSUPPORTED_VERSION && supportedIn(rpc.data).includes(MODERN_VERSION);
}

function supportedIn(data: unknown): readonly unknown[] {
  const supported = isObject(data) ? data['supported'] : undefined;
  return Array.isArray(supported) ? supported : [];
}
