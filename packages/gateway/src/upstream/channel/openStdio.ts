import { createSingleFlight } from '@behalf/kernel';
import { createStdioVersionCache, toCommandLine } from '../protocolVersionCache.ts';
import type { OpenOptions, StdioTarget } from '../target.ts';
import type { Era, Upstream, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { discover, openChannelUpstream } from './openChannelUpstream.ts';
import { createPeer } from './peer.ts';
import { type StdioLimits, type StdioTransport, createStdioTransport } from './stdioTransport.ts';

type StdioUpstreamParts = Pick<UpstreamParts, 'clock' | 'log' | 'version' | 'onStderr' | 'kill'> & {
  readonly limits: StdioLimits;
};

/** A server that does not respond to `server/discover` within this time counts as legacy. */
const PROBE_TIMEOUT_MS = 2_000;

/** Starts child processes and opens upstreams to them. */
export function createOpenStdio(
  parts: StdioUpstreamParts,
): (target: StdioTarget, options: OpenOptions) => Promise<Upstream> {
  const { clock, limits, version } = parts;
  const versionCache = createStdioVersionCache(clock);
  const probes = createSingleFlight<Era>();

  function createChild(target: StdioTarget, { server, owner }: OpenOptions): StdioTransport {
    return createStdioTransport(target, {
      clock,
      kill: parts.kill,
      onStderr: (line) => parts.onStderr(server, line),
      acquirePermit: () => limits.acquire(owner, server),
    });
  }

  /**
   * Probes a separate process, because some servers exit on any message before `initialize`. A timeout, an exit or an
   * error of the server means legacy.
   */
  async function probe(target: StdioTarget, options: OpenOptions, signal: AbortSignal): Promise<Era> {
    const child = createChild({ ...target, stderr: 'ignore' }, options);
    const peer = createPeer(child, { clock, getEra: () => 'legacy', onNotification: () => undefined });
    try {
      signal.throwIfAborted();
      await child.start();
      const timeoutMs = Math.min(PROBE_TIMEOUT_MS, options.initTimeoutMs);
      return (await discover(peer, version, { timeoutMs, signal })) ? 'modern' : 'legacy';
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamError && error.reason !== 'too_many') return 'legacy';
      throw error;
    } finally {
      await child.terminate();
    }
  }

  async function detectEra(target: StdioTarget, options: OpenOptions): Promise<Era> {
    const cached = versionCache.get(target);
    if (cached) return cached;
    const era = await probes.run(
      [options.owner ?? null, toCommandLine(target)],
      (signal) => probe(target, options, signal),
      { signal: options.signal },
    );
    versionCache.set(target, era);
    return era;
  }

  return async (target, options) => {
    const isEraFixed = options.era !== 'auto';
    let era: Era;
    try {
      era = options.era === 'auto' ? await detectEra(target, options) : options.era;
    } catch (error) {
      // Wait until the probed process has ended. During shutdown nothing else would.
      await probes.idle();
      options.signal.throwIfAborted();
      throw error instanceof UpstreamError ? error : new UpstreamError('connect_failed', { cause: error });
    }
    const child = createChild(target, options);
    const terminate = () => child.terminate();
    const upstream = await openChannelUpstream(child, { ...options, era, isEraFixed, terminate }, parts);
    // The server no longer supports the modern era.
    if (!isEraFixed && upstream.claims.era !== era) versionCache.set(target, upstream.claims.era);
    return upstream;
  };
}
