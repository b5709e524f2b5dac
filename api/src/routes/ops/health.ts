import type { ReadyView } from '@behalf/contracts';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { type Clock, withTimeout } from '@behalf/kernel';
import { type Route, publicRoute } from '../../http/route.ts';

/** Alive: the process answers. Whether it can serve is the other question. */
export const healthRoute: Route = publicRoute('get', '/health', (_req, res) => res.json({ status: 'ok' }));

export function readyRoute(readiness: () => Promise<ReadyView>): Route {
  return publicRoute('get', '/ready', async (_req, res) => {
    const view = await readiness();
    res.status(view.status === 'ready' ? 200 : 503).json(view);
  });
}

/** A store that has not answered by then does not answer. */
const PING_TIMEOUT_MS = 2_000;

interface ReadinessParts {
  version: string;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  clock: Clock;
  isDraining: () => boolean;
}

/** What the gateway needs to serve, asked anew each time. */
export function createReadiness(parts: ReadinessParts): () => Promise<ReadyView> {
  const { version, primary, coordination, clock, isDraining } = parts;

  async function checkStore(store: CoordinationStore): Promise<string | null> {
    try {
      const pong = store.ping().then(() => null);
      return await withTimeout(clock, PING_TIMEOUT_MS, pong, () => 'does not answer');
    } catch {
      return 'does not answer';
    }
  }

  return async () => {
    const stores = new Set<CoordinationStore>([primary, coordination]);
    const missing: ReadyView['missing'] = [];
    await Promise.all(
      [...stores].map(async (store) => {
        const reason = await checkStore(store);
        if (reason !== null) missing.push({ part: store.kind, reason });
      }),
    );
    if (isDraining()) missing.push({ part: 'gateway', reason: 'is shutting down' });
    return {
      status: missing.length === 0 ? 'ready' : 'not_ready',
      version,
      stores: { primary: primary.kind, coordination: coordination.kind },
      missing,
    };
  };
}
