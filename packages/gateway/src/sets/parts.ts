import type { Cancellation, Clock, Leases, Random } from '@behalf/kernel';
import type { RunBlockParts } from '../blocks/parts.ts';
import type { BlockRunResult } from '../blocks/runBlock.ts';
import type { Principal, UserPrincipal } from '../principal/principal.ts';
import type { WriteSavedParts, ReadSavedParts } from '../saved/parts.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import type { SavedBlocks } from '../blocks/sealedBlocks.ts';
import type { BlockSets } from './sealedSets.ts';
import type { RunPrincipalParts } from './runPrincipal.ts';
import type { SealedRuns } from './sealedRuns.ts';

/** Who asks: a user. A program has nobody whose runs these could be. */
export type RunInbound = Inbound & { readonly principal: UserPrincipal };

export interface ViewSetParts extends ReadSavedParts {
  readonly sets: BlockSets;
}

/** What saving and sharing sets needs. */
export interface SaveSetParts extends WriteSavedParts {
  readonly sets: BlockSets;
  readonly blocks: SavedBlocks;
}

/** One step on its way to a server. */
export interface StepCall {
  readonly principal: Principal;
  readonly server: string;
  /** For the log. */
  readonly description: string;
  readonly signal: Cancellation;
}

/** What a call costs and how it is counted, at whichever door it comes in. May refuse before it begins. */
export type MeterStep = (call: StepCall, work: () => Promise<BlockRunResult>) => Promise<BlockRunResult>;

/** What running them needs. */
export interface RunSetParts extends RunBlockParts, RunPrincipalParts {
  readonly sets: BlockSets;
  readonly runs: SealedRuns;
  readonly leases: Leases;
  readonly clock: Clock;
  readonly random: Random;
  readonly meterStep: MeterStep;
}
