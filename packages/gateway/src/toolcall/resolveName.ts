import { isValidAlias } from '@behalf/contracts';
import { type AllowedServer, checkAccess, resolveServer } from '../access/allowedServer.ts';
import { createTokenRequestBudget } from '../credentials/obo/bearer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ToolList } from '../tools/catalog.ts';
import type { LoadFailure } from '../tools/listForUser.ts';
import { prefixedNamesOf } from '../tools/names.ts';
import { canBeUnprefixed } from '../tools/naming.ts';
import type { CatalogTool } from '../tools/toolList.ts';
import type { Inbound } from './inbound.ts';
import { loadTools, ownerKey } from './list.ts';
import {
  type EndpointParts,
  type EndpointSelector,
  loadItems,
  readPromptNames,
  serverKeyAt,
} from './listEndpoint.ts';
import { prepareCredential } from './send.ts';

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

type NotFoundCode = 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND';

/** What a name without a key means: by the rules of `createUnprefixedNameLookup`. Undefined: such a name has a key before it. */
function routeUnprefixedTool(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): RoutedTool | Promise<RoutedTool> | undefined {
  const naming = parts.naming();
  const { principal } = inbound;
  const aliased = naming.tools.resolveAlias(publicName);
  if (aliased) {
    const server = resolveConfiguredServer(parts, inbound, aliased.server, 'MCP_TOOL_NOT_FOUND');
    const tool = parts.catalog.peek(server, ownerKey(server, principal))?.find(aliased.name);
    return tool ? { ...aliased, tool } : loadAliasedTool(parts, inbound, server, aliased.name);
  }
  if (naming.priority.length === 0 || !isValidAlias(publicName)) return undefined;
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    const tool = list?.find(publicName);
    if (tool && canBeUnprefixed(naming, 'tools', name, publicName))
      return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  return loadByPriority(parts, inbound, publicName);
}

/** Only the servers of the configuration have such names; one that the caller may not use is told like one without. */
function resolveConfiguredServer(
  parts: EndpointParts,
  { principal }: Inbound,
  name: string,
  notFoundCode: NotFoundCode,
): AllowedServer {
  const server = resolveServer(parts.registry, principal, name);
  return checkAccess(parts, principal, server?.source === 'user' ? undefined : server, notFoundCode);
}

function loadServerTools(parts: EndpointParts, inbound: Inbound, server: AllowedServer): Promise<ToolList> {
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(parts, server, { ...inbound, signal }, { budget });
  return loadTools(parts, server, obtain, inbound, { refresh: 'if-old' });
}

async function loadAliasedTool(
  parts: EndpointParts,
  inbound: Inbound,
  server: AllowedServer,
  name: string,
): Promise<RoutedTool> {
  // Why it cannot be listed is what the call itself will say, in the words of a call.
  const list = await loadServerTools(parts, inbound, server).catch(() => undefined);
  return { server: server.name, name, tool: list?.find(name) };
}

/** Not known: it may be new somewhere, or this is the first call. Each is asked only after those before it lack it. */
async function loadByPriority(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<RoutedTool> {
  const naming = parts.naming();
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const isUnprefixed = canBeUnprefixed(naming, 'tools', name, publicName);
    const list = await loadServerTools(parts, inbound, server).catch(() => undefined);
    const tool = list?.find(publicName);
    // One that cannot be listed may have it, so nobody behind it is asked: the call itself says what is wrong there.
    if (isUnprefixed && (tool || !list)) return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  throw new GatewayError('MCP_TOOL_NOT_FOUND');
}

async function routeUnprefixedPrompt(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<RoutedName | undefined> {
  const naming = parts.naming();
  const aliased = naming.prompts.resolveAlias(publicName);
  if (aliased) {
    resolveConfiguredServer(parts, inbound, aliased.server, 'MCP_PROMPT_NOT_FOUND');
    return aliased;
  }
  if (naming.priority.length === 0 || !isValidAlias(publicName)) return undefined;
  for (const fresh of [false, true]) {
    for (const name of naming.priority) {
      const server = resolveConfiguredServer(parts, inbound, name, 'MCP_PROMPT_NOT_FOUND');
      const [firstResult] = await loadItems(parts, inbound, [server], 'prompts/list', { fresh });
      if (!firstResult) break;
      const [, listed] = firstResult;
      const isUnprefixed = canBeUnprefixed(naming, 'prompts', name, publicName);
      if ('absence' in listed) {
        // For a name that is another's nobody is sent to sign in.
        if (!isUnprefixed) throw listed.cause;
        return handleUnlistedServer(listed, { server: name, name: publicName });
      }
      const listedNames = readPromptNames(listed);
      if (isUnprefixed && listedNames.names.includes(publicName)) return { server: name, name: publicName };
      if (!listedNames.complete) break;
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}

/**
 * What a prompt's name means at a server that cannot be listed. That its user must sign in there first is what the request
 * itself will say, in the best form that the client has; anything else is the answer.
 */
function handleUnlistedServer({ absence, cause }: LoadFailure, routedName: RoutedName): RoutedName {
  if (absence.state === 'needs_authorization') return routedName;
  throw cause;
}
