import type { Inspected, Look } from '../registry/inspection.ts';
import type { AppServer } from '../registry/server.ts';
import type { LoadParts } from './loadTools.ts';
import { TOTAL_CAP_MS } from './callUpstream.ts';
import { mask, shownTo } from './maskPresented.ts';
import { withWords } from './serverWords.ts';

/** A first look at a shared server, for nobody in particular: its connection stands and its tools are known after it. */
export async function inspectServer(
  { connections, catalog, listAll }: LoadParts,
  server: AppServer,
  { signal, explicit }: Look,
): Promise<Inspected> {
  const lease = await connections.shared.lease(server, { signal, explicit });
  const { target, settings } = server;
  let failure: unknown;
  try {
    const options = {
      timeoutMs: settings.timeout,
      totalMs: TOTAL_CAP_MS,
      ...(target.type !== 'stdio' && { headers: target.headers }),
    };
    // With the catalog's signal: others may wait for the same list, whatever becomes of this look.
    const list = async (shared: AbortSignal) =>
      withWords(await listAll(lease.upstream, 'tools/list', { ...options, signal: shared }), server, {
        claims: lease.upstream.claims,
        masked: (text) => mask(text, shownTo(target)),
      });
    const { tools } = await catalog.load(server, '', list, { signal, refresh: true });
    return { claims: lease.upstream.claims, tools: tools.length };
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}
