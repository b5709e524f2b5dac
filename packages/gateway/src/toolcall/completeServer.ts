import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';
import { sendToServer, resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import { canRetry } from './recoverFromRefusal.ts';
import { toNotFoundError } from './rpcErrors.ts';
import { toCallerError } from './toCallerError.ts';

/** `completion/complete`, of a prompt's argument or a part of a resource's address. */
export interface CompletionRequest {
  readonly ref: JsonObject;
  readonly argument: JsonObject;
  readonly context?: JsonObject;
}

const EMPTY_COMPLETION: UpstreamResponse = {
  result: { completion: { values: [], total: 0, hasMore: false } },
  json: undefined,
};
const METHOD_NOT_FOUND = -32_601;

/**
 * What a server suggests while somebody types. It is no use of what it completes, so that nothing is written down, as
 * for lists. A server that suggests nothing at all is no error.
 */
export async function completeServer(
  parts: SendParts,
  name: string,
  { ref, argument, context }: CompletionRequest,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const isPrompt = ref['type'] === 'ref/prompt';
  const denial = isPrompt ? 'MCP_PROMPT_NOT_FOUND' : 'MCP_RESOURCE_NOT_FOUND';
  const server = resolveAllowedServer(parts, inbound, name, denial);
  const request = { method: 'completion/complete', params: { ref, argument, ...(context && { context }) } };
  try {
    const prepared = await prepareCredential(parts, server, inbound);
    return await sendToServer(parts, prepared, request, inbound, (error) =>
      canRetry(error, server) ? request : undefined,
    );
  } catch (error) {
    if (isMethodNotFound(error)) return EMPTY_COMPLETION;
    throw toNotFoundError(error, denial) ?? toCallerError(error, server);
  }
}

function isMethodNotFound(error: unknown): boolean {
  return (
    error instanceof UpstreamError &&
    error.reason === 'rpc_error' &&
    error.detail.rpc?.code === METHOD_NOT_FOUND
  );
}
