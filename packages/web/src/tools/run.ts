import type { ApprovalNeeded, Authority, ConnectNeeded, MissingParts, ToolResult } from '@behalf/contracts';
import type { BlockRunInput } from '../api/blocks.ts';
import type { ToolProgress } from '../api/tools.ts';

/** A tool that somebody ran, with what it was given. */
export interface RunInput {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle?: string | undefined;
  /** All that is sent; of a block also what it brings by itself. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly authority: Authority | undefined;
  /** The block that is run, where it is one. */
  readonly block?: BlockRunInput;
}

/**
 * `waiting`: for the word of the person. `held`: for their sign-in at the server; the tool was not asked yet. `failed`: the
 * tool ran and says so. `refused`: there is no answer of the tool, and an error says why. `cancelled`: stopped, and whether
 * it ran is not known.
 */
export type RunState =
  'running' | 'waiting' | 'held' | 'done' | 'failed' | 'refused' | 'denied' | 'cancelled';

export interface RunLog {
  readonly level: string;
  readonly text: string;
}

export interface Run extends RunInput {
  readonly id: number;
  readonly state: RunState;
  readonly startedAt: number;
  readonly durationMs?: number;
  readonly progress?: ToolProgress;
  /** The last ones. */
  readonly logs: readonly RunLog[];
  readonly result?: ToolResult;
  readonly error?: unknown;
  readonly approval?: ApprovalNeeded;
  /** The sign-in that it is held for. */
  readonly connect?: ConnectNeeded | undefined;
  /** What a block is held for. */
  readonly missing?: MissingParts | undefined;
  /** What went wrong when it was decided. */
  readonly decisionError?: unknown;
  readonly isDeciding?: boolean;
}
