import type { ToolResult } from '@behalf/contracts';
import { ApiError } from '../api/apiError.ts';
import type { BlockRunInput } from '../api/blocks.ts';
import type { ToolCall, ToolProgress } from '../api/tools.ts';
import { createStore, type Store } from '../app/store.ts';
import { readConnect } from './readConnect.ts';
import { readLog } from './readLog.ts';
import type { Run, RunInput, RunLog } from './run.ts';

const MOST_RUNS = 20;
const MOST_LOGS = 200;

/** A tool that is called, by itself or as a block. */
export type RunCall = ToolCall & { readonly block?: BlockRunInput };

export interface RunsParts {
  readonly call: (call: RunCall) => Promise<ToolResult>;
  readonly decide: (approvalId: string, approve: boolean) => Promise<unknown>;
  readonly now: () => number;
  /** Once in a while: a tool can say more than a screen can show. */
  readonly later: (work: () => void) => void;
}

/** The runs of one visit, the newest first. A run goes on while its page is not shown. */
export interface Runs {
  readonly list: Store<readonly Run[]>;
  /** Resolves when the tool has answered, or waits for approval. */
  readonly start: (input: RunInput) => Promise<Run>;
  readonly cancel: (id: number) => void;
  /** Runs a call that waits, or gives it up. */
  readonly decide: (id: number, approve: boolean) => Promise<void>;
  /** Makes a call that is held, after its user has signed in. The same call: nothing of it is asked again. */
  readonly goOn: (id: number) => Promise<void>;
}

export function createRuns({ call, decide, now, later }: RunsParts): Runs {
  const list = createStore<readonly Run[]>([]);
  const controllers = new Map<number, AbortController>();
  let last = 0;

  const find = (id: number) => list.get().find((run) => run.id === id);
  const change = (id: number, facts: Partial<Run>) =>
    list.set(list.get().map((run) => (run.id === id ? { ...run, ...facts } : run)));

  /** Calls the tool of a run. What it says meanwhile is shown together, once in a while. */
  async function perform(id: number, { server, serverTitle, tool, args, block }: RunInput): Promise<void> {
    const controller = new AbortController();
    controllers.set(id, controller);
    const startedAt = now();
    let progress: ToolProgress | undefined;
    let logs: readonly RunLog[] = [];
    let isPlanned = false;

    function show(): void {
      isPlanned = false;
      change(id, { ...(progress && { progress }), logs });
    }
    function plan(): void {
      if (isPlanned) return;
      isPlanned = true;
      later(show);
    }

    const outcome = await settle(
      call({
        ...{ server, tool, args, signal: controller.signal },
        ...(block && { block }),
        onProgress(next) {
          progress = next;
          plan();
        },
        onLog(log) {
          logs = [...logs, readLog(log)].slice(-MOST_LOGS);
          plan();
        },
      }),
      serverTitle,
    );
    controllers.delete(id);
    // Who cancelled has been told already.
    if (controller.signal.aborted) return;
    change(id, { ...outcome, logs, durationMs: now() - startedAt });
  }

  return {
    list,
    async start(input) {
      const id = (last += 1);
      const run: Run = { ...input, id, state: 'running', startedAt: now(), logs: [] };
      list.set(shortened([run, ...list.get()]));
      await perform(id, input);
      return find(id) ?? run;
    },
    cancel(id) {
      const run = find(id);
      if (run?.state !== 'running') return;
      change(id, { state: 'cancelled', durationMs: now() - run.startedAt });
      controllers.get(id)?.abort();
    },
    async decide(id, approve) {
      const run = find(id);
      if (run?.state !== 'waiting' || !run.approval || run.isDeciding) return;
      change(id, { isDeciding: true, decisionError: undefined });
      try {
        await decide(run.approval.id, approve);
      } catch (decisionError) {
        change(id, { isDeciding: false, decisionError });
        return;
      }
      change(id, { isDeciding: false, state: approve ? 'running' : 'denied', startedAt: now() });
      if (approve) await perform(id, run);
    },
    async goOn(id) {
      const run = find(id);
      if (run?.state !== 'held') return;
      change(id, { state: 'running', startedAt: now(), missing: undefined, connect: undefined });
      await perform(id, run);
    },
  };
}

/** How a call ended. */
async function settle(calling: Promise<ToolResult>, serverTitle: string): Promise<Partial<Run>> {
  try {
    const result = await calling;
    const connect = readConnect(result, serverTitle);
    if (connect) return { state: 'held', connect };
    return { state: result.isError === true ? 'failed' : 'done', result };
  } catch (error) {
    const { approval, missing } = (error instanceof ApiError && error.problem) || {};
    // Inputs that are missing are told at their fields; what is to be had elsewhere is waited for.
    if (missing && missing.credentials.length > 0) return { state: 'held', missing };
    return approval ? { state: 'waiting', approval } : { state: 'refused', error };
  }
}

/** The newest, and whatever is not over. */
function shortened(runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ state }, index) => index < MOST_RUNS || state === 'running' || state === 'waiting');
}
