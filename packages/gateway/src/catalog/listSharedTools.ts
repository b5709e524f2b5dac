import type { ErrorCode } from '@behalf/contracts';
import { within, type Clock } from '@behalf/kernel';
import type { SharedUpstreams } from '../connections/sharedUpstreams.ts';
import { classifyFailure } from '../upstream/classifyFailure.ts';
import type { UpstreamTool } from '../upstream/upstream.ts';

export type ServerTools = { server: string } & (
  | { state: 'connected'; tools: readonly UpstreamTool[] }
  | { state: 'unreachable'; code: ErrorCode; cause: unknown }
);

/** How long one server may take before the list goes out without it. */
const PATIENCE_MS = 10_000;

/** The tools of every shared server: one that fails or hangs says so, and neither hides nor delays another. */
export function listSharedTools(
  upstreams: SharedUpstreams,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<ServerTools[]> {
  return Promise.all(
    upstreams.names().map(async (server): Promise<ServerTools> => {
      try {
        const listed = upstreams.use(server, (upstream) => upstream.listTools(signal));
        const tools = await within(clock, PATIENCE_MS, Promise.resolve(listed), () => 'late' as const);
        if (tools === 'late') return { server, state: 'unreachable', code: 'MCP_TIMEOUT', cause: undefined };
        return { server, state: 'connected', tools: tools ?? [] };
      } catch (cause) {
        return { server, state: 'unreachable', code: classifyFailure(cause, 'connecting'), cause };
      }
    }),
  );
}
