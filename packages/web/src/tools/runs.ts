import type { ApprovalNeeded, Authority, ConnectNeeded, MissingParts, ToolResult } from '@behalf/contracts';
import type { BlockRunInput } from '../api/blocks.ts';
import { ApiError } from '../api/request.ts';
import type { ToolCall, ToolLog, ToolProgress } from '../api/tools.ts';
import { type Store, createStore } from '../app/store.ts';
import { isRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';

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
type RunState = 'running' | 'waiting' | 'held' | 'done' | 'failed' | 'refused' | 'denied' | 'cancelled';

interface RunLog {
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

const MAX_RUNS = 20;
const MAX_LOGS = 200;

/** A tool that is called, by itself or as a block. */
type RunCall = ToolCall & { readonly block?: BlockRunInput };

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

/** The sign-in that a result says is missing. The gateway passes on no such words of a server. */
export function parseConnectNeeded(result: ToolResult, serverTitle: string): ConnectNeeded | undefined {
  const meta = result['_meta'];
  const auth = isRecord(meta) ? meta['behalf/auth'] : undefined;
  if (!isRecord(auth)) return undefined;
  const { server, reason, connectUrl, scopes } = auth;
  if (typeof server !== 'string' || typeof reason !== 'string') return undefined;
  return {
    server,
    title: serverTitle,
    reason,
    connectUrl: typeof connectUrl === 'string' ? connectUrl : null,
    ...(typeof scopes === 'string' && { scopes }),
  };
}

const MAX_LOG_LENGTH = 2_000;

/** A message of a server as one text. What it logs is data of any shape. */
function toRunLog({ level, logger, data }: ToolLog): RunLog {
  const content = typeof data === 'string' ? data : toJsonText(data);
  const text = typeof logger === 'string' && logger !== '' ? `${logger}: ${content}` : content;
  return {
    level: typeof level === 'string' ? level : '',
    text: text.length > MAX_LOG_LENGTH ? `${text.slice(0, MAX_LOG_LENGTH)}…` : text,
  };
}

function toJsonText(data: unknown): string {
  try {
    return data === undefined ? '' : JSON.stringify(data);
  } catch {
    // Nested too deep to be written.
    return '';
  }
}

/** Errors that the gateway returns before it sends anything to the server. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'BLOCK_INCOMPLETE',
  'MCP_ARGUMENTS_INVALID',
  'MCP_USER_VARS_MISSING',
  'VERSION_CONFLICT',
]);

/** The state of a run as shown to the user. */
export function runStateText({ state, error }: Pick<Run, 'state' | 'error'>): string {
  const words = strings.tools.run;
  const isNotSent = state === 'refused' && error instanceof ApiError && NOT_SENT.has(error.code);
  return isNotSent ? words.notSent : words.states[state];
}
