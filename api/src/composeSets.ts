import {
  createSealedRuns,
  createSetRuns,
  createSets,
  type MeterStep,
  type Log,
  type RunBlockParts,
  type SaveBlockParts,
} from '@behalf/gateway';
import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Keyring } from '@behalf/kernel';
import type { Disposables } from './disposables.ts';
import type { RateLimits } from './http/rateLimits.ts';
import type { Route } from './http/routes.ts';
import { setPeriodic } from './ops/setPeriodic.ts';
import type { ServerResponderParts } from './rest/mcp/serverResponder.ts';
import type { InFlightLimiter } from './rest/mcp/inFlightLimiter.ts';
import { createObserveRequest } from './rest/mcp/observeRequest.ts';
import { setRoutes } from './rest/mcp/sets/routes.ts';

const SWEEP_MS = 60 * 60 * 1000;

export interface ComposeSetsParts extends Omit<ServerResponderParts, 'inFlight'> {
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  disposables: Disposables;
  blocks: SaveBlockParts & RunBlockParts;
  limits: Pick<RateLimits, 'consume'>;
  inFlight: InFlightLimiter;
}

/** Blocks in an order, each run of them one job. */
export interface Sets {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeSets(parts: ComposeSetsParts): Sets {
  const { clock, keyring, log, primary, disposables, blocks, limits, inFlight } = parts;
  const observe = createObserveRequest(parts);

  /** A step costs what a call costs. */
  const meterStep: MeterStep = async (
    { principal: caller, server, description: operation, signal },
    work,
  ) => {
    limits.consume(caller, 'calls');
    inFlight.acquire(caller.userId);
    try {
      const step = work();
      await observe({ caller, door: 'rest', server, operation, signal }, async () => (await step).response);
      return await step;
    } finally {
      inFlight.release(caller.userId);
    }
  };

  const runs = createSealedRuns({ store: primary.runs, keyring, log });
  const setParts = {
    ...{ ...blocks, runs, meterStep: meterStep },
    sets: createSets({ store: primary.sets, keyring, log }),
    authenticationStores: { sessions: primary.sessions, apiKeys: primary.apiKeys },
  };
  const setRuns = createSetRuns(setParts);
  disposables.add(() => setRuns.close());
  disposables.add(setPeriodic(SWEEP_MS, clock, () => runs.sweep(clock.now())));
  return {
    routes: setRoutes(setParts, { ...parts, parts: setParts, setRuns }),
    drain: () => setRuns.drain(),
  };
}
