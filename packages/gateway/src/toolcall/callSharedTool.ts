import type { SharedUpstreams } from '../connections/sharedUpstreams.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { classifyFailure } from '../upstream/classifyFailure.ts';
import type { Upstream, UpstreamResult } from '../upstream/upstream.ts';

export interface ToolCall {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  /** Aborts when the caller has left. */
  signal: AbortSignal;
}

/** Calls a tool of a shared server. An unknown server and an unknown tool are told alike. */
export async function callSharedTool(upstreams: SharedUpstreams, call: ToolCall): Promise<UpstreamResult> {
  const { server, tool, args, signal } = call;
  let phase: 'connecting' | 'asking' = 'connecting';

  async function ask(upstream: Upstream): Promise<UpstreamResult> {
    const tools = await upstream.listTools(signal);
    if (!tools.some(({ name }) => name === tool)) throw new GatewayError('MCP_TOOL_NOT_FOUND');
    phase = 'asking';
    return upstream.callTool(tool, args, signal);
  }

  const asked = upstreams.use(server, ask);
  if (!asked) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  try {
    return await asked;
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError(classifyFailure(cause, phase), { cause });
  }
}
