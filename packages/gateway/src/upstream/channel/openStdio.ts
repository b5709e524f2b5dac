import { type Clock, createSingleFlight } from '@behalf/kernel';
import { createDefaultResponse } from '../dialogue.ts';
import type { OpenOptions, StdioTarget } from '../target.ts';
import type { Era, Upstream, UpstreamParts } from '../upstream.ts';
import { UpstreamError } from '../upstreamError.ts';
import { discover, openChannelUpstream } from './openChannelUpstream.ts';
import { createPeer } from './peer.ts';
import { type StdioLimits, type StdioTransport, createStdioTransport } from './stdioTransport.ts';

type StdioUpstreamParts = Pick<UpstreamParts, 'clock' | 'log' | 'version' | 'onStderr' | 'kill'> & {
  readonly limits: StdioLimits;
};

/** How long a server may be silent before it counts as one that does not know `server/discover`. */
const PROBE_TIMEOUT_MS = 2_000;

/** Starts child processes and opens conversations with them. */
export function createOpenStdio(
  parts: StdioUpstreamParts,
): (target: StdioTarget, options: OpenOptions) => Promise<Upstream> {
  const { clock, limits, version } = parts;
  const versionCache = createStdioProtocolVersionCache(clock);
  const probes = createSingleFlight<Era>();

  /** A process that holds a place from its start to its exit. */
  function createChild(target: StdioTarget, { server, owner }: OpenOptions): StdioTransport {
    return createStdioTransport(target, {
      clock,
      kill: parts.kill,
      onStderr: (line) => parts.onStderr(server, line),
      acquirePermit: () => limits.acquire(owner, server),
    });
  }

  /**
   * Asks a sibling that is thrown away: some servers exit on anything that comes before `initialize`, and would take
   * the conversation with them. Silence, an exit or any error of the server's own means legacy.
   */
  async function probe(target: StdioTarget, options: OpenOptions, signal: AbortSignal): Promise<Era> {
    const probeChild = createChild({ ...target, stderr: 'ignore' }, options);
    const peer = createPeer(probeChild, {
      clock,
      getEra: () => 'legacy',
      createResponse: createDefaultResponse,
      onNotification: () => undefined,
    });
    try {
      signal.throwIfAborted();
      await probeChild.start();
      const timeoutMs = Math.min(PROBE_TIMEOUT_MS, options.initTimeoutMs);
      const claims = await discover(peer, { version, timeoutMs, signal });
      return claims ? 'modern' : 'legacy';
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof UpstreamError && error.reason !== 'too_many') return 'legacy';
      throw error;
    } finally {
      await probeChild.terminate();
    }
  }

  async function detectEra(target: StdioTarget, options: OpenOptions): Promise<Era> {
    const cached = versionCache.get(target);
    if (cached) return cached;
    const era = await probes.run(
      [options.owner ?? null, commandLineKey(target)],
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
      // Whoever gave up leaves no sibling behind: at a shutdown nobody else would wait for its end.
      await probes.idle();
      options.signal.throwIfAborted();
      throw error instanceof UpstreamError ? error : new UpstreamError('connect_failed', { cause: error });
    }
    const child = createChild(target, options);
    const terminate = () => child.terminate();
    const upstream = await openChannelUpstream(child, { ...options, era, isEraFixed, terminate }, parts);
    // It was modern once and is not any more. A verdict that holds keeps its date.
    if (!isEraFixed && upstream.claims.era !== era) versionCache.set(target, upstream.claims.era);
    return upstream;
  };
}

/** A legacy verdict works silently for ever: it is asked anew after a day, in case the server was updated. */
const ENTRY_TTL_MS = 24 * 60 * 60 * 1_000;
const MAX_ENTRIES = 256;

interface StdioProtocolVersionCache {
  get(target: StdioTarget): Era | undefined;
  set(target: StdioTarget, era: Era): void;
}

/** Which era a command speaks, so that it is probed once a day and not at every start. */
function createStdioProtocolVersionCache(clock: Clock): StdioProtocolVersionCache {
  const entries = new Map<string, { readonly era: Era; readonly expiresAt: number }>();
  return {
    get(target) {
      const entry = entries.get(commandLineKey(target));
      return entry && entry.expiresAt > clock.now() ? entry.era : undefined;
    },
    set(target, era) {
      const key = commandLineKey(target);
      entries.delete(key);
      entries.set(key, { era, expiresAt: clock.now() + ENTRY_TTL_MS });
      // Arguments may hold a user's values: what users make up must not grow without end.
      for (const oldest of entries.keys()) {
        if (entries.size <= MAX_ENTRIES) break;
        entries.delete(oldest);
      }
    },
  };
}

/** The environment is left out: it holds credentials, and hardly ever decides which revision is spoken. */
function commandLineKey({ command, args, cwd }: StdioTarget): string {
  return JSON.stringify([command, args, cwd ?? null]);
}
