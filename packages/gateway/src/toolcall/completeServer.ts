import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { notFoundError } from './rpcResult.ts';
import { toldOf } from './toldOf.ts';

/** `completion/complete`, of a prompt's argument or a part of a resource's address. */
export interface Completing {
  readonly ref: JsonObject;
  readonly argument: JsonObject;
  readonly context?: JsonObject;
}

const NOTHING: UpstreamResponse = {
  result: { completion: { values: [], total: 0, hasMore: false } },
  json: undefined,
};
const METHOD_NOT_FOUND = -32_601;

/**
 * What a server suggests while somebody types. It is no use of what it completes, so that nothing is written down, as
 * for lists. A server that suggests nothing at all is no error.
 */
export async function completeServer(
  parts: AskParts,
  name: string,
  { ref, argument, context }: Completing,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const isPrompt = ref['type'] === 'ref/prompt';
  const denial = isPrompt ? 'MCP_PROMPT_NOT_FOUND' : 'MCP_RESOURCE_NOT_FOUND';
  const server = enter(parts, inbound, name, denial);
  const question = { method: 'completion/complete', params: { ref, argument, ...(context && { context }) } };
  try {
    const ready = await prepare(parts, server, inbound);
    return await ask(parts, ready, question, inbound, (error) =>
      mayRepeat(error, server) ? question : undefined,
    );
  } catch (error) {
    if (isNotOffered(error)) return NOTHING;
    throw notFoundError(error, denial) ?? toldOf(error, server);
  }
}

function isNotOffered(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.reason === 'rpc_error' &&
    error.detail.rpc?.code === METHOD_NOT_FOUND
  );
}
