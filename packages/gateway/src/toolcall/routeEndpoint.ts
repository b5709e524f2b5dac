import type { CatalogTool } from '../catalog/toolList.ts';
import { prefixedNamesOf } from '../catalog/prefixedNames.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { prepareCredential } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import { checkAccess, type AllowedServer } from './checkAccess.ts';
import { serverKeyAt, type EndpointSelector, type EndpointParts } from './endpoint.ts';
import { loadItems } from './listEndpoint.ts';
import { ownerKey, loadTools } from './loadTools.ts';
import { resolveServer } from './resolveServer.ts';
import { routeUnprefixedPrompt, routeUnprefixedTool } from './routeUnprefixedName.ts';
import { handleUnlistedServer } from './handleUnlistedServer.ts';

/** What a name at an endpoint means: a server, and what that server itself calls it. */
export interface RoutedName {
  readonly server: string;
  readonly name: string;
}

/** Also the tool as it is known, where it is. */
export interface RoutedTool extends RoutedName {
  readonly tool: CatalogTool | undefined;
}

/** Whose tool this is: at once when it is known. What is forbidden and what does not exist are told alike. */
export function routeTool(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
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
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    return list
      ? { server: server.name, name: publicName, tool: list.find(publicName) }
      : loadAndRouteTool(parts, inbound, endpoint, server, publicName);
  }
  const unprefixed = routeUnprefixedTool(parts, inbound, publicName);
  if (unprefixed) return unprefixed;
  for (const server of findCandidates(parts, inbound, publicName, 'MCP_TOOL_NOT_FOUND')) {
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    const routed = list && findRoutedTool(parts, inbound, endpoint, server, list, publicName);
    if (routed) return routed;
    return loadAndRouteTool(parts, inbound, endpoint, server, publicName);
  }
  throw new GatewayError('MCP_TOOL_NOT_FOUND');
}

/** Not known: it may be new there, or this is the first call. */
async function loadAndRouteTool(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  server: AllowedServer,
  publicName: string,
): Promise<RoutedTool> {
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(parts, server, { ...inbound, signal }, { budget });
  let list: CachedToolList;
  try {
    list = await loadTools(parts, server, obtain, inbound, { refresh: 'if-old' });
  } catch {
    // Why it cannot be listed is what the call itself will say, in the words of a call. No tool has a name like this.
    return { server: server.name, name: publicName, tool: undefined };
  }
  const routed = findRoutedTool(parts, inbound, endpoint, server, list, publicName);
  if (!routed) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return routed;
}

type CachedToolList = NonNullable<ReturnType<EndpointParts['catalog']['peek']>>;

function findRoutedTool(
  parts: EndpointParts,
  { principal }: Inbound,
  endpoint: EndpointSelector,
  server: AllowedServer,
  list: CachedToolList,
  publicName: string,
): RoutedTool | undefined {
  if (endpoint.kind === 'one') return { server: server.name, name: publicName, tool: list.find(publicName) };
  const key = serverKeyAt(parts, principal, endpoint, server);
  if (key === undefined) return undefined;
  const names = prefixedNamesOf(list, key, server.id, () => list.tools.map(({ name }) => name));
  const name = names.upstreamName(publicName);
  return name === undefined ? undefined : { server: server.name, name, tool: list.find(name) };
}

/** The servers that the caller may use and that a name can belong to. */
function findCandidates(
  parts: EndpointParts,
  { principal }: Inbound,
  publicName: string,
  notFoundCode: 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND',
): AllowedServer[] {
  return parts.serverKeys
    .findServerNames(principal.tenant, publicName)
    .map((name) =>
      checkAccess(parts, principal, resolveServer(parts.registry, principal, name), notFoundCode),
    );
}

export async function routePrompt(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  publicName: string,
): Promise<RoutedName> {
  if (endpoint.kind === 'one') return { server: endpoint.server, name: publicName };
  const unprefixed = await routeUnprefixedPrompt(parts, inbound, publicName);
  if (unprefixed) return unprefixed;
  const servers = findCandidates(parts, inbound, publicName, 'MCP_PROMPT_NOT_FOUND');
  for (const fresh of [false, true]) {
    for (const [server, listed] of await loadItems(parts, inbound, servers, 'prompts/list', { fresh })) {
      if ('absence' in listed) return handleUnlistedServer(listed, { server: server.name, name: publicName });
      const key = serverKeyAt(parts, inbound.principal, endpoint, server);
      if (key === undefined) continue;
      const listNames = () => listed.items.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
      const name = prefixedNamesOf(listed, key, server.id, listNames).upstreamName(publicName);
      if (name !== undefined) return { server: server.name, name };
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}
