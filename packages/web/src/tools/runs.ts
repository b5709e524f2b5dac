import type { ToolResult } from '@behalf/contracts';
import { ApiError } from '../api/apiError.ts';
import type { BlockRunInput } from '../api/blocks.ts';
import type { ToolCall, ToolProgress } from '../api/tools.ts';
import { createStore, type Store } from '../app/store.ts';
import { parseConnectNeeded } from './parseConnectNeeded.ts';
import { toRunLog } from './toRunLog.ts';
import type { Run, RunInput, RunLog } from './run.ts';

const MAX_RUNS = 20;
const MAX_LOGS = 200;

/** A tool that is called, by itself or as a block. */
export type RunCall = ToolCall & { readonly block?: BlockRunInput };

export interface RunsParts {
  readonly call: (call: RunCall) => Promise<ToolResult>;
  readonly decide: (approvalId: string, approve: boolean) => Promise<unknown>;
  readonly now: () => number;
  /** Once in a while: a tool can say more than a screen can show. */
  readonly schedule: (callback: () => void) => void;
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
  readonly resume: (id: number) => Promise<void>;
}

export function createRuns({ call, decide, now, schedule }: RunsParts): Runs {
  const list = createStore<readonly Run[]>([]);
  const controllers = new Map<number, AbortController>();
  let lastId = 0;

  const find = (id: number) => list.get().find((run) => run.id === id);
  const update = (id: number, fields: Partial<Run>) =>
    list.set(list.get().map((run) => (run.id === id ? { ...run, ...fields } : run)));

  /** Calls the tool of a run. What it says meanwhile is shown together, once in a while. */
  async function execute(id: number, { server, serverTitle, tool, args, block }: RunInput): Promise<void> {
    const controller = new AbortController();
    controllers.set(id, controller);
    const startedAt = now();
    let progress: ToolProgress | undefined;
    let logs: readonly RunLog[] = [];
    let isUpdateScheduled = false;

    function publish(): void {
      isUpdateScheduled = false;
      update(id, { ...(progress && { progress }), logs });
    }
    function scheduleUpdate(): void {
      if (isUpdateScheduled) return;
      isUpdateScheduled = true;
      schedule(publish);
    }

    const outcome = await toOutcome(
      call({
        ...{ server, tool, args, signal: controller.signal },
        ...(block && { block }),
        onProgress(next) {
          progress = next;
          scheduleUpdate();
        },
        onLog(log) {
          logs = [...logs, toRunLog(log)].slice(-MAX_LOGS);
          scheduleUpdate();
        },
      }),
      serverTitle,
    );
    controllers.delete(id);
    // Who cancelled has been told already.
    if (controller.signal.aborted) return;
    update(id, { ...outcome, logs, durationMs: now() - startedAt });
  }

  return {
    list,
    async start(input) {
      const id = (lastId += 1);
      const run: Run = { ...input, id, state: 'running', startedAt: now(), logs: [] };
      list.set(trimRuns([run, ...list.get()]));
      await execute(id, input);
      return find(id) ?? run;
    },
    cancel(id) {
      const run = find(id);
      if (run?.state !== 'running') return;
      update(id, { state: 'cancelled', durationMs: now() - run.startedAt });
      controllers.get(id)?.abort();
    },
    async decide(id, approve) {
      const run = find(id);
      if (run?.state !== 'waiting' || !run.approval || run.isDeciding) return;
      update(id, { isDeciding: true, decisionError: undefined });
      try {
        await decide(run.approval.id, approve);
      } catch (decisionError) {
        update(id, { isDeciding: false, decisionError });
        return;
      }
      update(id, { isDeciding: false, state: approve ? 'running' : 'denied', startedAt: now() });
      if (approve) await execute(id, run);
    },
    async resume(id) {
      const run = find(id);
      if (run?.state !== 'held') return;
      update(id, { state: 'running', startedAt: now(), missing: undefined, connect: undefined });
      await execute(id, run);
    },
  };
}

/** How a call ended. */
async function toOutcome(pending: Promise<ToolResult>, serverTitle: string): Promise<Partial<Run>> {
  try {
    const result = await pending;
    const connect = parseConnectNeeded(result, serverTitle);
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
function trimRuns(runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ state }, index) => index < MAX_RUNS || state === 'running' || state === 'waiting');
}
