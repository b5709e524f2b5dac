import type { CatalogTool } from '../catalog/toolList.ts';
import { prefixedNamesOf } from '../catalog/prefixedNames.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { prepare } from './askServer.ts';
import type { Inbound } from './call.ts';
import { checkAccess, type Allowed } from './checkAccess.ts';
import { keyAt, type Endpoint, type EndpointParts } from './endpoint.ts';
import { loadItems } from './listEndpoint.ts';
import { holderKey, loadTools } from './loadTools.ts';
import { resolveServer } from './resolveServer.ts';
import { routeOwnPrompt, routeOwnTool } from './routeOwnName.ts';
import { unlisted } from './unlisted.ts';

/** What a name at an endpoint means: a server, and what that server itself calls it. */
export interface Routed {
  readonly server: string;
  readonly name: string;
}

/** Also the tool as it is known, where it is. */
export interface RoutedTool extends Routed {
  readonly tool: CatalogTool | undefined;
}

/** Whose tool this is: at once when it is known. What is forbidden and what does not exist are told alike. */
export function routeTool(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  publicName: string,
): RoutedTool | Promise<RoutedTool> {
  const { principal } = inbound;
  if (endpoint.kind === 'one') {
    const server = checkAccess(
      parts,
      principal,
      resolveServer(parts.registry, principal, endpoint.server),
      'MCP_TOOL_NOT_FOUND',
    );
    const list = parts.catalog.peek(server, holderKey(server, principal));
    return list
      ? { server: server.name, name: publicName, tool: list.find(publicName) }
      : loadAndRoute(parts, inbound, endpoint, server, publicName);
  }
  const own = routeOwnTool(parts, inbound, publicName);
  if (own) return own;
  for (const server of candidates(parts, inbound, publicName, 'MCP_TOOL_NOT_FOUND')) {
    const list = parts.catalog.peek(server, holderKey(server, principal));
    const found = list && ownTool(parts, inbound, endpoint, server, list, publicName);
    if (found) return found;
    return loadAndRoute(parts, inbound, endpoint, server, publicName);
  }
  throw new GatewayError('MCP_TOOL_NOT_FOUND');
}

/** Not known: it may be new there, or this is the first call. */
async function loadAndRoute(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  server: Allowed,
  publicName: string,
): Promise<RoutedTool> {
  const purse = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) => prepare(parts, server, { ...inbound, signal }, { purse });
  let list: KnownList;
  try {
    list = await loadTools(parts, server, obtain, inbound, { refresh: 'if-old' });
  } catch {
    // Why it cannot be listed is what the call itself will say, in the words of a call. No tool has a name like this.
    return { server: server.name, name: publicName, tool: undefined };
  }
  const found = ownTool(parts, inbound, endpoint, server, list, publicName);
  if (!found) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return found;
}

type KnownList = NonNullable<ReturnType<EndpointParts['catalog']['peek']>>;

function ownTool(
  parts: EndpointParts,
  { principal }: Inbound,
  endpoint: Endpoint,
  server: Allowed,
  list: KnownList,
  publicName: string,
): RoutedTool | undefined {
  if (endpoint.kind === 'one') return { server: server.name, name: publicName, tool: list.find(publicName) };
  const key = keyAt(parts, principal, endpoint, server);
  if (key === undefined) return undefined;
  const names = prefixedNamesOf(list, key, server.id, () => list.tools.map(({ name }) => name));
  const name = names.ownName(publicName);
  return name === undefined ? undefined : { server: server.name, name, tool: list.find(name) };
}

/** The servers that the caller may use and that a name can belong to. */
function candidates(
  parts: EndpointParts,
  { principal }: Inbound,
  publicName: string,
  denial: 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND',
): Allowed[] {
  return parts.serverKeys
    .namesFor(principal.tenant, publicName)
    .map((name) => checkAccess(parts, principal, resolveServer(parts.registry, principal, name), denial));
}

export async function routePrompt(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  publicName: string,
): Promise<Routed> {
  if (endpoint.kind === 'one') return { server: endpoint.server, name: publicName };
  const own = await routeOwnPrompt(parts, inbound, publicName);
  if (own) return own;
  const servers = candidates(parts, inbound, publicName, 'MCP_PROMPT_NOT_FOUND');
  for (const fresh of [false, true]) {
    for (const [server, listed] of await loadItems(parts, inbound, servers, 'prompts/list', { fresh })) {
      if ('absence' in listed) return unlisted(listed, { server: server.name, name: publicName });
      const key = keyAt(parts, inbound.principal, endpoint, server);
      if (key === undefined) continue;
      const all = () => listed.items.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
      const name = prefixedNamesOf(listed, key, server.id, all).ownName(publicName);
      if (name !== undefined) return { server: server.name, name };
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}
