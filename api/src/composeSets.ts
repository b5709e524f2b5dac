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
import type { Closers } from './closers.ts';
import type { RateLimits } from './door/rateLimits.ts';
import type { Route } from './http.ts';
import { every } from './ops/upkeep.ts';
import type { AnsweringParts } from './rest/mcp/answering.ts';
import type { InFlight } from './rest/mcp/inFlight.ts';
import { createObserving } from './rest/mcp/observing.ts';
import { setRoutes } from './rest/mcp/sets/routes.ts';

const SWEEP_MS = 60 * 60 * 1000;

export interface ComposeSetsParts extends Omit<AnsweringParts, 'inFlight'> {
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  closers: Closers;
  blocks: SaveBlockParts & RunBlockParts;
  limits: Pick<RateLimits, 'take'>;
  inFlight: InFlight;
}

/** Blocks in an order, each run of them one job. */
export interface Sets {
  readonly routes: readonly Route[];
  drain(): void;
}

export function composeSets(parts: ComposeSetsParts): Sets {
  const { clock, keyring, log, primary, closers, blocks, limits, inFlight } = parts;
  const observe = createObserving(parts);

  /** A step costs what a call costs. */
  const around: MeterStep = async ({ principal: caller, server, description: what, signal }, work) => {
    limits.take(caller, 'calls');
    inFlight.enter(caller.userId);
    try {
      const begun = work();
      await observe({ caller, door: 'rest', server, what, signal }, async () => (await begun).response);
      return await begun;
    } finally {
      inFlight.leave(caller.userId);
    }
  };

  const runs = createSealedRuns({ store: primary.runs, keyring, log });
  const all = {
    ...{ ...blocks, runs, meterStep: around },
    sets: createSets({ store: primary.sets, keyring, log }),
    authenticationStores: { sessions: primary.sessions, apiKeys: primary.apiKeys },
  };
  const setRuns = createSetRuns(all);
  closers.add(() => setRuns.close());
  closers.add(every(SWEEP_MS, clock, () => runs.sweep(clock.now())));
  return {
    routes: setRoutes(all, { ...parts, parts: all, setRuns }),
    drain: () => setRuns.drain(),
  };
}
