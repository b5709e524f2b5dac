import type { ServerTools } from '../catalog/listForUser.ts';
import { toolVerdict } from '../policy/toolOffered.ts';
import type { Inbound } from './call.ts';
import { findServer, findServers } from './findServer.ts';
import { listToolsOf, type ListToolsParts } from './listTools.ts';
import { holderKey } from './loadTools.ts';

export interface OneServersTools extends ServerTools {
  /** The names of those that wait for their user's word with each call. */
  readonly askFirst: ReadonlySet<string>;
}

/** The tools this caller has of one server, under the names that they have among those of all. */
export async function listServerTools(
  parts: ListToolsParts,
  inbound: Inbound,
  name: string,
): Promise<OneServersTools> {
  const { principal } = inbound;
  const server = findServer(parts, principal, name);
  // What is not known yet cannot clash yet: nobody waits for other servers here.
  const beside = findServers(parts, principal).flatMap((other) => {
    const list = other === server ? undefined : parts.catalog.peek(other, holderKey(other, principal));
    return list ? [{ server: other, list }] : [];
  });
  const [listed] = (await listToolsOf(parts, inbound, [server], beside)) as [ServerTools];
  const policy = parts.policy();
  const asking = listed.tools.filter((tool) => toolVerdict(policy, principal, server, tool) === 'ask');
  return { ...listed, askFirst: new Set(asking.map((tool) => tool.name)) };
}
