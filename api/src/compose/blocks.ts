import {
  type BlockParts,
  createSavedBlocks,
  createSavedCollection,
  createSavedSets,
  createSealedRuns,
  createSetRuns,
} from '@behalf/gateway';
import type { ObserveRequestParts } from '../http/inbound.ts';
import type { InFlightLimiter, RateLimits } from '../http/limits.ts';
import { type SendRunParts, createStepMeter, setRoutes } from '../routes/rest/sets.ts';
import { setPeriodic } from '../runtime/lifecycle.ts';
import type { ComposedAccess } from './access.ts';
import type { ComposeContext } from './context.ts';
import type { Servers } from './servers.ts';
import type { Vault } from './vault.ts';

const SWEEP_MS = 60 * 60 * 1000;

interface ComposeBlocksParts {
  readonly access: Pick<ComposedAccess, 'acl' | 'roles' | 'audit'>;
  readonly servers: Pick<Servers, 'callParts' | 'registry' | 'variables' | 'subjects'>;
  readonly vault: Pick<Vault, 'vault'>;
}

/** Blocks: tools saved with inputs. */
export function composeBlocks(context: ComposeContext, parts: ComposeBlocksParts): BlockParts {
  const { clock, random, keyring, log, primary } = context;
  const { acl, roles, audit } = parts.access;
  const { registry, callParts, variables, subjects } = parts.servers;
  // The leases of the primary store, so that blocks can be edited during a Redis outage.
  const savedParts = { acl, roles, audit, clock, random, users: primary.users, leases: primary.leases };
  return {
    ...{ ...savedParts, registry, callParts },
    blocks: createSavedCollection(savedParts, createSavedBlocks({ store: primary.blocks, keyring, log })),
    readinessParts: { vault: parts.vault.vault, variables, subjects, clock },
  };
}

interface ComposeSetsParts extends ObserveRequestParts, Omit<SendRunParts, 'clock'> {
  readonly blocks: BlockParts;
  readonly limits: Pick<RateLimits, 'consume'>;
  readonly inFlight: InFlightLimiter;
}

/** Sets: ordered lists of blocks. Each run of a set is one job. */
export function composeSets(context: ComposeContext, parts: ComposeSetsParts) {
  const { keyring, clock, log, primary, disposables } = context;
  const { blocks } = parts;
  const runs = createSealedRuns({ store: primary.runs, keyring, log });
  const setParts = {
    ...{ ...blocks, runs, meterStep: createStepMeter(parts) },
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
