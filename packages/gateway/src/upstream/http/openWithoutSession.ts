import type { UpstreamParts } from '../parts.ts';
import type { RemoteTarget } from '../target.ts';
import type { Upstream } from '../upstream.ts';
import { createLegacyUpstream } from './legacyUpstream.ts';

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
