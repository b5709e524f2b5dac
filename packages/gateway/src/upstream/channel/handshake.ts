import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LATEST_PROTOCOL_VERSION,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/client';
import { readClaims } from '../http/claims.ts';
import { withExtension } from '../http/serializeRequest.ts';
import type { JsonObject, ServerClaims } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { objectOrEmpty } from './message.ts';
import type { Peer } from './peer.ts';

export const MODERN_VERSION = '2026-07-28';

export interface ChannelHandshakeOptions {
  /** Our own version, as told to the server. */
  readonly version: string;
  readonly timeoutMs: number;
  /** What the server may ask of us. None by default: on a channel that many share, nobody could be asked on behalf of one of them. */
  readonly capabilities?: JsonObject;
  readonly signal: AbortSignal;
  /** By which the token of its owner is had. */
  readonly extension?: string | undefined;
  /** Hears the revision that both speak before anything else is sent. */
  readonly onVersionNegotiated?: (protocolVersion: string) => void;
}

/** Who we are. */
const clientInfo = (version: string) => ({ name: 'behalf', version });

/** What every request of the modern era says of its sender. */
export function modernMeta(version: string): JsonObject {
  return {
    [PROTOCOL_VERSION_META_KEY]: MODERN_VERSION,
    [CLIENT_INFO_META_KEY]: clientInfo(version),
    [CLIENT_CAPABILITIES_META_KEY]: {},
  };
}

/** `initialize` and `notifications/initialized`, as every revision up to 2025-11-25 begins. */
export async function initialize(peer: Peer, options: ChannelHandshakeOptions): Promise<ServerClaims> {
  const { signal, timeoutMs } = options;
  const { result } = await peer.request(
    'initialize',
    {
      protocolVersion: LATEST_PROTOCOL_VERSION,
      capabilities: withExtension(options.capabilities ?? {}, options.extension),
      clientInfo: clientInfo(options.version),
    },
    { signal, timeoutMs, totalMs: timeoutMs },
  );
  const { protocolVersion } = result;
  if (typeof protocolVersion !== 'string' || !SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion))
    throw new UpstreamError('invalid_response');
  options.onVersionNegotiated?.(protocolVersion);
  // Where each message is a POST of its own, the next one could overtake it.
  const notifyError = await peer.notify('notifications/initialized');
  // Without it the server waits for ever, and says so to nobody.
  if (notifyError) throw notifyError;
  const { serverInfo, capabilities, instructions } = result;
  return readClaims('legacy', protocolVersion, { serverInfo, capabilities, instructions });
}

/**
 * `server/discover`. Undefined when the answer is no evidence of the modern era, which is what a legacy server gives:
 * every modern one must implement it.
 */
export async function discover(
  peer: Peer,
  options: ChannelHandshakeOptions,
): Promise<ServerClaims | undefined> {
  const { signal, timeoutMs } = options;
  let result: JsonObject;
  try {
    const meta = modernMeta(options.version);
    ({ result } = await peer.request('server/discover', {}, { signal, timeoutMs, totalMs: timeoutMs, meta }));
  } catch (error) {
    if (error instanceof UpstreamError && error.detail.rpc) return undefined;
    throw error;
  }
  const versions = result['supportedVersions'];
  if (!Array.isArray(versions) || !versions.includes(MODERN_VERSION)) return undefined;
  const { capabilities, instructions } = result;
  const serverInfo = objectOrEmpty(result['_meta'])[SERVER_INFO_META_KEY];
  return readClaims('modern', MODERN_VERSION, { serverInfo, capabilities, instructions });
}
