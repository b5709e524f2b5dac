import {
  type BlockParts,
  type Log,
  type MeterStep,
  createSavedBlocks,
  createSavedCollection,
  createSavedSets,
  createSealedRuns,
  createSetRuns,
} from '@behalf/gateway';
import type { PrimaryStore } from '@behalf/gateway/ports';
import type { Clock, Keyring, Random } from '@behalf/kernel';
import type { InFlightLimiter, RateLimits } from '../http/limits.ts';
import type { Route } from '../http/route.ts';
import { createObserveRequest } from '../routes/ops/observeRequest.ts';
import type { ServerResponderParts } from '../routes/rest/serverResponder.ts';
import { setRoutes } from '../routes/rest/sets.ts';
import { type Disposables, setPeriodic } from '../runtime/lifecycle.ts';
import type { ComposedAccess } from './access.ts';
import type { Servers } from './servers.ts';
import type { Vault } from './vault.ts';

interface ComposeBlocksParts {
  clock: Clock;
  random: Random;
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  access: Pick<ComposedAccess, 'acl' | 'roles' | 'audit'>;
  servers: Pick<Servers, 'callParts' | 'registry' | 'status' | 'subjects'>;
  vault: Pick<Vault, 'vault'>;
}

/** Tools that people saved with inputs. */
export function composeBlocks(parts: ComposeBlocksParts): BlockParts {
  const { clock, random, keyring, log, primary, access, servers, vault } = parts;
  const { acl, roles, audit } = access;
  // The leases of the primary store, as for servers: they protect writes to that store.
  const savedParts = { acl, roles, audit, clock, random, users: primary.users, leases: primary.leases };
  return {
    ...savedParts,
    blocks: createSavedCollection(savedParts, createSavedBlocks({ store: primary.blocks, keyring, log })),
    registry: servers.registry,
    callParts: servers.callParts,
    readinessParts: {
      ...{ vault: vault.vault, variables: servers.status.variables, subjects: servers.subjects, clock },
    },
  };
}

const SWEEP_MS = 60 * 60 * 1000;

interface ComposeSetsParts extends Omit<ServerResponderParts, 'inFlight'> {
  keyring: Keyring;
  log: Log;
  primary: PrimaryStore;
  disposables: Disposables;
  blocks: BlockParts;
  limits: Pick<RateLimits, 'consume'>;
  inFlight: InFlightLimiter;
}

/** Blocks in an order, each run of them one job. */
interface Sets {
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
      return await observe({ caller, door: 'rest', server, operation, signal }, work);
    } finally {
      inFlight.release(caller.userId);
    }
  };

  const runs = createSealedRuns({ store: primary.runs, keyring, log });
  const setParts = {
    ...{ ...blocks, runs, meterStep: meterStep },
    sets: createSavedCollection(blocks, createSavedSets({ store: primary.sets, keyring, log })),
    authenticationStores: { sessions: primary.sessions, apiKeys: primary.apiKeys },
  };
  const setRuns = createSetRuns(setParts);
  disposables.add(() => setRuns.close());
  disposables.add(setPeriodic(SWEEP_MS, clock, () => runs.sweep(clock.now())));
  return {
    routes: setRoutes(setParts, { ...parts, setRuns }),
    drain: () => setRuns.drain(),
  };
}
