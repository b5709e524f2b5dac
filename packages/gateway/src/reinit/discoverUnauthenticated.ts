import type { OpenOptions, RemoteTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import type { OpenUpstream } from '../upstream/openUpstream.ts';
import type { ItemList } from '../catalog/listAll.ts';
import type { LoadToolsParts } from '../toolcall/loadTools.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { ServerSnapshot } from '../registry/server.ts';

export interface UnauthenticatedParts {
  readonly open: OpenUpstream;
  /** `tools/list` without any handshake: some servers guard `initialize` and answer this. */
  readonly openWithoutSession: (
    target: RemoteTarget,
    options: Pick<OpenOptions, 'server' | 'initTimeoutMs' | 'signal'>,
  ) => Upstream;
  readonly listAll: LoadToolsParts['listAll'];
}

/** How long a server may take to show its tools to nobody in particular. */
export const PROBE_TIMEOUT_MS = 15_000;

/**
 * The tools of a server as it shows them to anybody. Undefined when it shows none; never an error, because the answer
 * to "what is missing" is known already: a sign-in.
 */
export async function discoverUnauthenticated(
  { open, openWithoutSession, listAll }: UnauthenticatedParts,
  server: ServerSnapshot,
  target: RemoteTarget,
  signal: AbortSignal,
): Promise<ItemList | undefined> {
  const { era, initTimeout } = server.settings;
  const options = { server: server.id, initTimeoutMs: Math.min(initTimeout, PROBE_TIMEOUT_MS), signal };
  const openers: (() => Upstream | Promise<Upstream>)[] = [
    () => open(target, { ...options, owner: undefined, era }),
  ];
  if (target.type === 'streamable-http') openers.push(() => openWithoutSession(target, options));
  for (const openUpstream of openers) {
    try {
      const upstream = await openUpstream();
      try {
        const limits = { timeoutMs: PROBE_TIMEOUT_MS, totalMs: PROBE_TIMEOUT_MS };
        const listed = await listAll(upstream, 'tools/list', { ...limits, signal, headers: target.headers });
        if (listed.items.length > 0) return listed;
      } finally {
        await upstream.close();
      }
    } catch (error) {
      if (signal.aborted) throw error;
      // Refused is an answer, and another way may be open. Anything else would only take its time again.
      if (!(error instanceof UpstreamError) || error.outcome !== 'refused') return undefined;
    }
  }
  return undefined;
}
