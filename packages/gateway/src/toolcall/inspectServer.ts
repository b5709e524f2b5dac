import type { InspectionResult, InspectionOptions } from '../registry/inspectionScheduler.ts';
import type { AppServer } from '../registry/server.ts';
import type { LoadToolsParts } from './loadTools.ts';
import { MAX_CALL_MS } from './callUpstream.ts';
import { redactSecrets, collectPresentedSecrets } from './maskSecrets.ts';
import { withInstructions } from './serverInstructions.ts';

/** A first look at a shared server, for nobody in particular: its connection stands and its tools are known after it. */
export async function inspectServer(
  { connections, catalog, listAll }: LoadToolsParts,
  server: AppServer,
  { signal, bypassesBreaker }: InspectionOptions,
): Promise<InspectionResult> {
  const lease = await connections.shared.lease(server, { signal, bypassesBreaker });
  const { target, settings } = server;
  let failure: unknown;
  try {
    const options = {
      timeoutMs: settings.timeout,
      totalMs: MAX_CALL_MS,
      ...(target.type !== 'stdio' && { headers: target.headers }),
    };
    // With the catalog's signal: others may wait for the same list, whatever becomes of this look.
    const listShared = async (sharedSignal: AbortSignal) =>
      withInstructions(
        await listAll(lease.upstream, 'tools/list', { ...options, signal: sharedSignal }),
        server,
        {
          claims: lease.upstream.claims,
          maskText: (text) => redactSecrets(text, collectPresentedSecrets(target)),
        },
      );
    const { tools } = await catalog.load(server, '', listShared, { signal, refresh: true });
    return { claims: lease.upstream.claims, toolCount: tools.length };
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    lease.release(failure);
  }
}
