/**
 * Finds the server and the upstream name behind a public name at an MCP endpoint. Forbidden and missing look the same. If a
 * server cannot be listed, the call itself reports why, because the errors of calls are more precise than those of lists.
 */
import { isValidAlias } from '@behalf/contracts';
import type { AllowedServer } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type ToolList, ownerKey } from '../tools/catalog.ts';
import type { LoadFailure } from '../tools/listForUser.ts';
import { canBeUnprefixed, prefixedNamesOf } from '../tools/names.ts';
import type { CatalogTool } from '../tools/toolList.ts';
import { resolveAllowedServer } from './credential.ts';
import type { Inbound } from './inbound.ts';
import { loadCallerTools } from './list.ts';
import {
  type EndpointParts,
  type EndpointSelector,
  loadItems,
  readPromptNames,
  serverKeyAt,
} from './listEndpoint.ts';

/** A server and the name that the server uses. */
export interface RoutedName {
  readonly server: string;
  readonly name: string;
}

export interface RoutedTool extends RoutedName {
  /** The tool, if it is cached. */
  readonly tool: CatalogTool | undefined;
}

type NotFoundCode = 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND';

/** Finds the server of a tool, synchronously if the tools are cached. */
export function routeTool(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  publicName: string,
): RoutedTool | Promise<RoutedTool> {
  const unprefixed = endpoint.kind === 'all' ? routeUnprefixedTool(parts, inbound, publicName) : undefined;
  if (unprefixed) return unprefixed;
  const [server] =
    endpoint.kind === 'one'
      ? [resolveAllowedServer(parts, inbound, endpoint.server, 'MCP_TOOL_NOT_FOUND')]
      : findCandidates(parts, inbound, publicName, 'MCP_TOOL_NOT_FOUND');
  if (!server) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  const list = peekTools(parts, inbound, server);
  const routed = list && findRoutedTool(parts, inbound, endpoint, server, list, publicName);
  return routed ?? loadAndRouteTool(parts, inbound, endpoint, server, publicName);
}

function peekTools(
  parts: EndpointParts,
  { principal }: Inbound,
  server: AllowedServer,
): ToolList | undefined {
  return parts.catalog.peek(server, ownerKey(server, principal));
}

/** Undefined if the server cannot be listed. */
function tryLoadTools(
  parts: EndpointParts,
  inbound: Inbound,
  server: AllowedServer,
): Promise<ToolList | undefined> {
  return loadCallerTools(parts, server, inbound, { refresh: 'if-old' }).catch(() => undefined);
}

async function loadAndRouteTool(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  server: AllowedServer,
  publicName: string,
): Promise<RoutedTool> {
  const list = await tryLoadTools(parts, inbound, server);
  // No tool has a name with a prefix, so the call fails with the reason why the server cannot be listed.
  if (!list) return { server: server.name, name: publicName, tool: undefined };
  const routed = findRoutedTool(parts, inbound, endpoint, server, list, publicName);
  if (!routed) throw new GatewayError('MCP_TOOL_NOT_FOUND');
  return routed;
}

function findRoutedTool(
  parts: EndpointParts,
  { principal }: Inbound,
  endpoint: EndpointSelector,
  server: AllowedServer,
  list: ToolList,
  publicName: string,
): RoutedTool | undefined {
  if (endpoint.kind === 'one') return { server: server.name, name: publicName, tool: list.find(publicName) };
  const key = serverKeyAt(parts, principal, endpoint, server);
  if (key === undefined) return undefined;
  const names = prefixedNamesOf(list, key, server.id, () => list.tools.map(({ name }) => name));
  const name = names.upstreamName(publicName);
  return name === undefined ? undefined : { server: server.name, name, tool: list.find(name) };
}

/** The server whose key the public name begins with, if the caller may use it. */
function findCandidates(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
  notFoundCode: NotFoundCode,
): AllowedServer[] {
  return parts.serverKeys
    .findServerNames(inbound.principal.tenant, publicName)
    .map((name) => resolveAllowedServer(parts, inbound, name, notFoundCode));
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
      const names = prefixedNamesOf(listed, key, server.id, () => readPromptNames(listed).names);
      const name = names.upstreamName(publicName);
      if (name !== undefined) return { server: server.name, name };
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}

/** Resolves an alias or an unprefixed name by the rules of `createUnprefixedNameLookup`. Undefined for prefixed names. */
function routeUnprefixedTool(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): RoutedTool | Promise<RoutedTool> | undefined {
  const naming = parts.naming();
  const aliased = naming.tools.resolveAlias(publicName);
  if (aliased) {
    const server = resolveConfiguredServer(parts, inbound, aliased.server, 'MCP_TOOL_NOT_FOUND');
    const tool = peekTools(parts, inbound, server)?.find(aliased.name);
    return tool ? { ...aliased, tool } : loadAliasedTool(parts, inbound, server, aliased.name);
  }
  if (naming.priority.length === 0 || !isValidAlias(publicName)) return undefined;
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const list = peekTools(parts, inbound, server);
    const tool = list?.find(publicName);
    if (tool && canBeUnprefixed(naming, 'tools', name, publicName))
      return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  return loadByPriority(parts, inbound, publicName);
}

/** Only servers of the configuration can have unprefixed names. */
function resolveConfiguredServer(
  parts: EndpointParts,
  inbound: Inbound,
  name: string,
  notFoundCode: NotFoundCode,
): AllowedServer {
  const server = resolveAllowedServer(parts, inbound, name, notFoundCode);
  if (server.source === 'user') throw new GatewayError(notFoundCode);
  return server;
}

async function loadAliasedTool(
  parts: EndpointParts,
  inbound: Inbound,
  server: AllowedServer,
  name: string,
): Promise<RoutedTool> {
  const list = await tryLoadTools(parts, inbound, server);
  return { server: server.name, name, tool: list?.find(name) };
}

/** Lists the servers of the priority list one after the other, until one has the tool. */
async function loadByPriority(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<RoutedTool> {
  const naming = parts.naming();
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const isUnprefixed = canBeUnprefixed(naming, 'tools', name, publicName);
    const list = await tryLoadTools(parts, inbound, server);
    const tool = list?.find(publicName);
    // A server that cannot be listed may have the tool, so no later server gets the call.
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
        // The name may belong to another server, so the user is not asked to sign in here.
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

/** If the user must sign in first, the request itself reports it, in the best form for the client. */
function handleUnlistedServer({ absence, cause }: LoadFailure, routedName: RoutedName): RoutedName {
  if (absence.state === 'needs_authorization') return routedName;
  throw cause;
}
