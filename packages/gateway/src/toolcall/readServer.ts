import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import { ask, enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { recordAudit, requireRoom, type Asked, type AuditParts, type Trail } from './recordAudit.ts';
import { mayRepeat } from './recoverFromRefusal.ts';
import { notFoundError } from './rpcResult.ts';
import { toldOf } from './toldOf.ts';

/** What a server has besides tools, read on the same way as a tool is called. */
export type Reading =
  | { readonly method: 'resources/read'; readonly params: { readonly uri: string } }
  | {
      readonly method: 'prompts/get';
      readonly params: { readonly name: string; readonly arguments: JsonObject };
    };

export interface ReadParts extends AskParts, AuditParts {}

export function readServer(
  parts: ReadParts,
  name: string,
  reading: Reading,
  inbound: Inbound,
): Promise<UpstreamResponse> {
  const asked: Asked =
    reading.method === 'prompts/get'
      ? { action: 'prompt.get', server: name, tool: reading.params.name, args: reading.params.arguments }
      : // The address of a resource is chosen by whoever asks, and may hold anything.
        { action: 'resource.read', server: name };
  return recordAudit(parts, inbound, asked, (trail) => read(parts, name, reading, inbound, trail));
}

async function read(
  parts: ReadParts,
  name: string,
  reading: Reading,
  inbound: Inbound,
  trail: Trail,
): Promise<UpstreamResponse> {
  const denial = reading.method === 'prompts/get' ? 'MCP_PROMPT_NOT_FOUND' : 'MCP_RESOURCE_NOT_FOUND';
  const server = enter(parts, inbound, name, denial);
  trail.server = server;
  requireRoom(parts, server, trail);
  try {
    const ready = await prepare(parts, server, inbound);
    trail.isPrepared = true;
    return await ask(parts, ready, reading, inbound, (error) =>
      mayRepeat(error, server) ? reading : undefined,
    );
  } catch (error) {
    throw notFoundError(error, denial) ?? toldOf(error, server, trail);
  }
}
