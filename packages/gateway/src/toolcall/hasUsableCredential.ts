import { resolveAllowedServer, prepareCredential, type SendParts } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';

/** Whether this caller has what it takes to be let in at this server, as far as it can be known without asking there. */
export async function hasUsableCredential(
  parts: SendParts,
  name: string,
  inbound: Inbound,
): Promise<boolean> {
  try {
    await prepareCredential(
      parts,
      resolveAllowedServer(parts, inbound, name, 'MCP_SERVER_NOT_FOUND'),
      inbound,
    );
    return true;
  } catch {
    return false;
  }
}
