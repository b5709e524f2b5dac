import type { ApprovalNeeded, Authority, ConnectNeeded, MissingParts, ToolResult } from '@behalf/contracts';
import type { BlockRunInput } from '../api/blocks.ts';
import { ApiError } from '../api/request.ts';
import type { ToolCall, ToolLog, ToolProgress } from '../api/tools.ts';
import { type Store, createStore } from '../app/store.ts';
import { isRecord } from '../result/json.ts';
import { strings } from '../strings/strings.ts';

/** A tool with the arguments of a run. */
export interface RunInput {
  readonly server: string;
  readonly serverTitle: string;
  readonly tool: string;
  readonly toolTitle?: string | undefined;
  /** All arguments that are sent, including those that a block provides. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly authority: Authority | undefined;
  /** Set if a block runs. */
  readonly block?: BlockRunInput;
}

/**
 * - `waiting`: for an approval by the user.
 * - `held`: for a sign-in at the server; the tool was not called yet.
 * - `failed`: the tool ran and reported an error.
 * - `refused`: there is no response of the tool; an error says why.
 * - `cancelled`: stopped; it is unknown whether the tool ran.
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
  /** The latest messages. */
  readonly logs: readonly RunLog[];
  readonly result?: ToolResult;
  readonly error?: unknown;
  readonly approval?: ApprovalNeeded;
  /** The sign-in that the run waits for. */
  readonly connect?: ConnectNeeded | undefined;
  /** Requirements that are missing before the block can run. */
  readonly missing?: MissingParts | undefined;
  /** The error of the approval decision. */
  readonly decisionError?: unknown;
  readonly isDeciding?: boolean;
}

const MAX_RUNS = 20;
const MAX_LOGS = 200;

/** A call of a tool, directly or as a block. */
type RunCall = ToolCall & { readonly block?: BlockRunInput };

export interface RunsParts {
  readonly call: (call: RunCall) => Promise<ToolResult>;
  readonly decide: (approvalId: string, approve: boolean) => Promise<unknown>;
  readonly now: () => number;
  /** Limits the update rate: a tool can report faster than a screen updates. */
  readonly schedule: (callback: () => void) => void;
}

/** The runs since the page was loaded, the newest first. A run continues while its page is not shown. */
export interface Runs {
  readonly list: Store<readonly Run[]>;
  /** Resolves when the tool has responded or waits for approval. */
  readonly start: (input: RunInput) => Promise<Run>;
  readonly cancel: (id: number) => void;
  /** Approves or denies a waiting call. */
  readonly decide: (id: number, approve: boolean) => Promise<void>;
  /** Repeats a held call unchanged after the user signed in. */
  readonly resume: (id: number) => Promise<void>;
}

export function createRuns({ call, decide, now, schedule }: RunsParts): Runs {
  const list = createStore<readonly Run[]>([]);
  const controllers = new Map<number, AbortController>();
  let lastId = 0;

  const find = (id: number) => list.get().find((run) => run.id === id);
  const update = (id: number, fields: Partial<Run>) =>
    list.set(list.get().map((run) => (run.id === id ? { ...run, ...fields } : run)));

  /** Calls the tool of a run. Progress messages are displayed in batches. */
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
    // The run was already marked as cancelled.
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

/** The outcome of a call. */
async function toOutcome(pending: Promise<ToolResult>, serverTitle: string): Promise<Partial<Run>> {
  try {
    const result = await pending;
    const connect = parseConnectNeeded(result, serverTitle);
    if (connect) return { state: 'held', connect };
    return { state: result.isError === true ? 'failed' : 'done', result };
  } catch (error) {
    const { approval, missing } = (error instanceof ApiError && error.problem) || {};
    // Missing inputs are shown at their fields. A missing sign-in holds the run.
    if (missing && missing.credentials.length > 0) return { state: 'held', missing };
    return approval ? { state: 'waiting', approval } : { state: 'refused', error };
  }
}

/** Keeps the newest runs and those in progress. */
function trimRuns(runs: readonly Run[]): readonly Run[] {
  return runs.filter(({ state }, index) => index < MAX_RUNS || state === 'running' || state === 'waiting');
}

/** The missing sign-in of a result. The gateway never forwards this field from a server. */
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

/** A log message of a server as one text. Its data can have any shape. */
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
    // Too deeply nested to serialize.
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
