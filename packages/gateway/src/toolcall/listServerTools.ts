import type { ServerTools } from '../catalog/listForUser.ts';
import { decideTool } from '../policy/decideTool.ts';
import type { Inbound } from './inbound.ts';
import { findServer, listAllowedServers } from './findServer.ts';
import { listToolsOfServers, type ListToolsParts } from './listTools.ts';
import { ownerKey } from './loadTools.ts';

export interface SingleServerTools extends ServerTools {
  /** The names of those that wait for their user's word with each call. */
  readonly requiringApproval: ReadonlySet<string>;
}

/** The tools this caller has of one server, under the names that they have among those of all. */
export async function listServerTools(
  parts: ListToolsParts,
  inbound: Inbound,
  name: string,
): Promise<SingleServerTools> {
  const { principal } = inbound;
  const server = findServer(parts, principal, name);
  // What is not known yet cannot clash yet: nobody waits for other servers here.
  const otherTools = listAllowedServers(parts, principal).flatMap((other) => {
    const list = other === server ? undefined : parts.catalog.peek(other, ownerKey(other, principal));
    return list ? [{ server: other, list }] : [];
  });
  const [listed] = (await listToolsOfServers(parts, inbound, [server], otherTools)) as [ServerTools];
  const policy = parts.policy();
  const askingTools = listed.tools.filter((tool) => decideTool(policy, principal, server, tool) === 'ask');
  return { ...listed, requiringApproval: new Set(askingTools.map((tool) => tool.name)) };
}
