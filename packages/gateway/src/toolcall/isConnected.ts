import { enter, prepare, type AskParts } from './askServer.ts';
import type { Inbound } from './call.ts';

/** Whether this caller has what it takes to be let in at this server, as far as it can be known without asking there. */
export async function isConnected(parts: AskParts, name: string, inbound: Inbound): Promise<boolean> {
  try {
    await prepare(parts, enter(parts, inbound, name, 'MCP_SERVER_NOT_FOUND'), inbound);
    return true;
  } catch {
    return false;
  }
}
