import type { Listed, ListMethod } from '../catalog/listAll.ts';
import { enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';
import { listOn, type LoadParts } from './loadTools.ts';
import { toldOf } from './toldOf.ts';

export type ListParts = AskParts & LoadParts;

/** What a server offers of one kind, asked for anew. */
export async function listServer(
  parts: ListParts,
  name: string,
  method: ListMethod,
  inbound: Inbound,
): Promise<Listed> {
  const server = enter(parts, inbound, name, 'MCP_SERVER_NOT_FOUND');
  try {
    return await listOn(parts, () => prepare(parts, server, inbound), inbound, method);
  } catch (error) {
    throw toldOf(error, server);
  }
}
