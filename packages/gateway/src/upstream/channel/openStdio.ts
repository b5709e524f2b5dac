import { createSingleFlight } from '@behalf/kernel';
import { replyOfNobody } from '../dialogue.ts';
import type { UpstreamParts } from '../parts.ts';
import { createStdioTransport, type StdioTransport } from '../stdioTransport.ts';
import type { OpenOptions, StdioTarget } from '../target.ts';
import type { Era, Upstream } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { discover } from './handshake.ts';
import { openChannelUpstream } from './openChannelUpstream.ts';
import { createPeer } from './peer.ts';
import { commandLine, createStdioEras } from './stdioEras.ts';
import type { StdioLimits } from './stdioLimits.ts';

export type StdioUpstreamParts = Pick<UpstreamParts, 'clock' | 'log' | 'version' | 'onStderr' | 'kill'> & {
  readonly limits: StdioLimits;
};

/** How long a server may be silent before it counts as one that does not know `server/discover`. */
const PROBE_MS = 2_000;

/** Starts child processes and opens conversations with them. */
export function createOpenStdio(
  parts: StdioUpstreamParts,
): (target: StdioTarget, options: OpenOptions) => Promise<Upstream> {
  const { clock, limits, version } = parts;
  const eras = createStdioEras(clock);
  const probes = createSingleFlight<Era>();

  /** A process that holds a place from its start to its exit. */
  function createChild(target: StdioTarget, { server, owner }: OpenOptions): StdioTransport {
    return createStdioTransport(target, {
      clock,
      kill: parts.kill,
      onStderr: (line) => parts.onStderr(server, line),
      admit: () => limits.take(owner, server),
    });
  }

  /**
   * Asks a sibling that is thrown away: some servers exit on anything that comes before `initialize`, and would take
   * the conversation with them. Silence, an exit or any error of the server's own means legacy.
   */
  async function probe(target: StdioTarget, options: OpenOptions, signal: AbortSignal): Promise<Era> {
    const sibling = createChild({ ...target, stderr: 'ignore' }, options);
    const peer = createPeer(sibling, {
      clock,
      era: () => 'legacy',
      serve: replyOfNobody,
      notice: () => undefined,
    });
    try {
      signal.throwIfAborted();
      await sibling.start();
      const timeoutMs = Math.min(PROBE_MS, options.initTimeoutMs);
      const claims = await discover(peer, { version, timeoutMs, signal });
      return claims ? 'modern' : 'legacy';
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamError && error.reason !== 'too_many') return 'legacy';
      throw error;
    } finally {
      await sibling.abandon();
    }
  }

  async function eraOf(target: StdioTarget, options: OpenOptions): Promise<Era> {
    const known = eras.known(target);
    if (known) return known;
    const era = await probes.run(
      [options.owner ?? null, commandLine(target)],
      (signal) => probe(target, options, signal),
      { signal: options.signal },
    );
    eras.keep(target, era);
    return era;
  }

  return async (target, options) => {
    const pinned = options.era !== 'auto';
    let era: Era;
    try {
      era = options.era === 'auto' ? await eraOf(target, options) : options.era;
    } catch (error) {
      // Whoever gave up leaves no sibling behind: at a shutdown nobody else would wait for its end.
      await probes.idle();
      options.signal.throwIfAborted();
      throw error instanceof UpstreamError ? error : new UpstreamError('connect_failed', { cause: error });
    }
    const child = createChild(target, options);
    const abandon = () => child.abandon();
    const upstream = await openChannelUpstream(child, { ...options, era, pinned, abandon }, parts);
    // It was modern once and is not any more. A verdict that holds keeps its date.
    if (!pinned && upstream.claims.era !== era) eras.keep(target, upstream.claims.era);
    return upstream;
  };
}
