import type { ReadyView } from '@behalf/contracts';
import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { type Clock, withTimeout } from '@behalf/kernel';
import { type Route, publicRoute } from '../../http/route.ts';

/** Liveness. Readiness is `/ready`. */
export const healthRoute: Route = publicRoute('get', '/health', (_req, res) => res.json({ status: 'ok' }));

export function readyRoute(readiness: Pick<Readiness, 'check'>): Route {
  return publicRoute('get', '/ready', async (_req, res) => {
    const view = await readiness.check();
    res.status(view.status === 'ready' ? 200 : 503).json(view);
  });
}

const PING_TIMEOUT_MS = 2_000;

interface ReadinessParts {
  version: string;
  primary: PrimaryStore;
  coordination: CoordinationStore;
  clock: Clock;
}

/** Whether load balancers should send requests to this replica. */
export interface Readiness {
  /** Pings the stores. */
  check(): Promise<ReadyView>;
  /** From now on the replica is not ready, so that load balancers stop sending requests before it closes. */
  drain(): void;
}

export function createReadiness({ version, primary, coordination, clock }: ReadinessParts): Readiness {
  let isDraining = false;

  async function checkStore(store: CoordinationStore): Promise<string | null> {
    try {
      const pong = store.ping().then(() => null);
      return await withTimeout(clock, PING_TIMEOUT_MS, pong, () => 'does not answer');
    } catch {
      return 'does not answer';
    }
  }

  async function check(): Promise<ReadyView> {
    const stores = new Set<CoordinationStore>([primary, coordination]);
    const missing: ReadyView['missing'] = [];
    await Promise.all(
      [...stores].map(async (store) => {
        const reason = await checkStore(store);
        if (reason !== null) missing.push({ part: store.kind, reason });
      }),
    );
    if (isDraining) missing.push({ part: 'gateway', reason: 'is shutting down' });
    return {
      status: missing.length === 0 ? 'ready' : 'not_ready',
      version,
      stores: { primary: primary.kind, coordination: coordination.kind },
      missing,
    };
  }

  return { check, drain: () => void (isDraining = true) };
}
