import type { ApprovalView, Problem, ToolResult } from '@behalf/contracts';
import { ApiError, encodeSegment, requestJson, sendRequest } from './request.ts';
import { readEvents, type StreamEvent } from './eventStream.ts';
import { explainErrorCode } from './explain.ts';

export interface ToolProgress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** Log message of a server about a call. */
export interface ToolLog {
  readonly level?: unknown;
  readonly logger?: unknown;
  readonly data?: unknown;
}

/** Receiver of the notifications of a call. `signal` cancels the call. */
export interface CallListener {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ToolProgress) => void;
  readonly onLog: (log: ToolLog) => void;
}

export interface ToolCall extends CallListener {
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export function toolCallPath(server: string, tool: string): string {
  return `/api/mcp/servers/${encodeSegment(server)}/tools/${encodeSegment(tool)}/call`;
}

/** Calls a tool and returns its result. Aborting the request cancels the call. */
export async function callTool({ server, tool, args, ...listener }: ToolCall): Promise<ToolResult> {
  const response = await sendRequest(toolCallPath(server, tool), {
    ...{ method: 'POST', signal: listener.signal },
    body: { arguments: args },
    headers: { Accept: 'text/event-stream' },
  });
  return readCallStream(response, listener);
}

/** Reads a call stream and returns the result at its end. */
export async function readCallStream(
  response: Response,
  { signal, onProgress, onLog }: CallListener,
): Promise<ToolResult> {
  try {
    for await (const streamEvent of readEvents(response)) {
      if (streamEvent.event === 'result') return parseData(streamEvent) as ToolResult;
      if (streamEvent.event === 'error') throw problemError(parseData(streamEvent) as Problem);
      if (streamEvent.event === 'progress') onProgress(parseData(streamEvent) as ToolProgress);
      if (streamEvent.event === 'log') onLog(parseData(streamEvent) as ToolLog);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ApiError) throw error;
  }
  // The connection ended before the result, so the outcome of the call is unknown.
  const code = 'MCP_OUTCOME_UNCERTAIN';
  const { title, text } = explainErrorCode(code) ?? { title: '', text: '' };
  throw new ApiError({ code, status: 0, title, detail: text });
}

function parseData({ data }: StreamEvent): unknown {
  return JSON.parse(data);
}

function problemError(problem: Problem): ApiError {
  const { code, status, title, detail } = problem;
  return new ApiError({ code, status, title, detail, problem });
}

/** Approves or denies a waiting call. */
export function decideApproval(id: string, approve: boolean): Promise<ApprovalView> {
  return requestJson(`/api/mcp/approvals/${encodeSegment(id)}`, { method: 'POST', body: { approve } });
}
