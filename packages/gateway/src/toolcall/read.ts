import type { JsonObject, UpstreamResponse } from '../upstream/upstream.ts';
import {
  type AuditContext,
  type AuditParts,
  type AuditedRequest,
  recordAudit,
  reserveAuditSlot,
} from './audit.ts';
import { type SendParts, prepareCredential, resolveAllowedServer } from './credential.ts';
import type { Inbound } from './inbound.ts';
import { type ServerOutcome, isMethodNotFound, toCallerError, toNotFoundError } from './outcome.ts';
import { canRetry } from './retry.ts';
import { sendToServer } from './send.ts';

/** Reads a resource or a prompt through the same pipeline as a tool call. */
export type ReadRequest =
  | { readonly method: 'resources/read'; readonly params: { readonly uri: string } }
  | {
      readonly method: 'prompts/get';
      readonly params: { readonly name: string; readonly arguments: JsonObject };
    };

export interface ReadParts extends SendParts, AuditParts {}

export function readServer(
  parts: ReadParts,
  name: string,
  request: ReadRequest,
  inbound: Inbound,
): Promise<ServerOutcome> {
  const audited: AuditedRequest =
    request.method === 'prompts/get'
      ? { action: 'prompt.get', server: name, tool: request.params.name, args: request.params.arguments }
      : // The caller chooses the URI, and it can contain anything, so it is not recorded.
        { action: 'resource.read', server: name };
  return recordAudit(parts, inbound, audited, (auditContext) =>
    executeRead(parts, name, request, inbound, auditContext),
  );
}

async function executeRead(
  parts: ReadParts,
  name: string,
  request: ReadRequest,
  inbound: Inbound,
  auditContext: AuditContext,
): Promise<ServerOutcome> {
  const denial = request.method === 'prompts/get' ? 'MCP_PROMPT_NOT_FOUND' : 'MCP_RESOURCE_NOT_FOUND';
  const server = resolveAllowedServer(parts, inbound, name, denial);
  auditContext.server = server;
  reserveAuditSlot(parts, server, auditContext);
  try {
    const prepared = await prepareCredential(parts, server, inbound);
    auditContext.isPrepared = true;
    return await sendToServer(parts, prepared, request, inbound, (error) =>
      canRetry(error, server) ? request : undefined,
    );
  } catch (error) {
    throw toNotFoundError(error, denial) ?? toCallerError(error, server);
  }
}

/** `completion/complete` for an argument of a prompt or of a resource template. */
export interface CompletionRequest {
  readonly ref: JsonObject;
  readonly argument: JsonObject;
  readonly context?: JsonObject;
}

const EMPTY_COMPLETION: UpstreamResponse = {
  kind: 'result',
  result: { completion: { values: [], total: 0, hasMore: false } },
  json: undefined,
};

/**
 * Returns the server's suggestions for an argument. Like lists, completions are not audited. If the server does not support
 * completion, the result is empty.
 */
export async function completeServer(
  parts: SendParts,
  name: string,
  { ref, argument, context }: CompletionRequest,
  inbound: Inbound,
): Promise<ServerOutcome> {
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
