import type { ItemList, ListMethod } from '../catalog/listAll.ts';
import { resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import { listWithRetry, type LoadToolsParts } from './loadTools.ts';
import { toCallerError } from './toCallerError.ts';

export type ListServerParts = SendParts & LoadToolsParts;

/** What a server offers of one kind, asked for anew. */
export async function listServer(
  parts: ListServerParts,
  name: string,
  method: ListMethod,
  inbound: Inbound,
): Promise<ItemList> {
  const server = resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  try {
    return await listWithRetry(parts, () => prepareCredential(parts, server, inbound), inbound, method);
  } catch (error) {
    throw toCallerError(error, server);
  }
}
