import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { sendToServer, resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import {
  recordAudit,
  reserveAuditSlot,
  type AuditedRequest,
  type AuditParts,
  type AuditContext,
} from './recordAudit.ts';
import { canRetry } from './recoverFromRefusal.ts';
import { toNotFoundError } from './rpcErrors.ts';
import { toCallerError } from './toCallerError.ts';

/** What a server has besides tools, read on the same way as a tool is called. */
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
): Promise<UpstreamResponse> {
  const audited: AuditedRequest =
    request.method === 'prompts/get'
      ? { action: 'prompt.get', server: name, tool: request.params.name, args: request.params.arguments }
      : // The address of a resource is chosen by whoever asks, and may hold anything.
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
): Promise<UpstreamResponse> {
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
    throw toNotFoundError(error, denial) ?? toCallerError(error, server, auditContext);
  }
}
