import type { UpstreamParts } from '../parts.ts';
import type { OpenOptions, RemoteTarget } from '../target.ts';
import type { Upstream } from '../upstream.ts';
import type { ProtocolVersionCache } from './protocolVersionCache.ts';
import { createLegacyUpstream } from './legacyUpstream.ts';
import { createModernUpstream } from './modernUpstream.ts';
import { negotiate } from './negotiate.ts';

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
