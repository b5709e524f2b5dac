import type { ErrorCode } from '@behalf/contracts';
import { isObject, toAbortSignal } from '@behalf/kernel';
import { type AllowedServer, findServer, listAllowedServers } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type Principal, principalKey } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { ownerKey } from '../tools/catalog.ts';
import type { ListSubscriptions } from '../tools/changes.ts';
import type { ItemListCache } from '../tools/itemLists.ts';
import { type Absence, type ServerAvailability, loadFromEachServer } from '../tools/listForUser.ts';
import {
  type ListedNames,
  type Naming,
  type ServerKeys,
  type UnprefixedNameLookup,
  createUnprefixedNameLookup,
  prefixedNamesOf,
  unwrapAddress,
  wrapAddress,
} from '../tools/names.ts';
import type { ToolSearch } from '../tools/search/toolSearch.ts';
import type { CatalogTool, ToolList } from '../tools/toolList.ts';
import type { ItemList, ListMethod } from '../upstream/listAll.ts';
import type { JsonObject, ListKind } from '../upstream/upstream.ts';
import type { CallParts } from './callTool.ts';
import type { Inbound } from './inbound.ts';
import { type ListToolsParts, listServer, listToolsOfServers, loadCallerTools } from './list.ts';

/** An MCP endpoint: one server with its own names, or all servers of the caller with public names. */
export type EndpointSelector = { readonly kind: 'one'; readonly server: string } | { readonly kind: 'all' };

export interface EndpointParts extends Omit<CallParts, 'registry'>, ListToolsParts {
  readonly registry: ListToolsParts['registry'];
  readonly serverKeys: ServerKeys;
  /** The naming of the current configuration. */
  readonly naming: () => Naming;
  readonly itemLists: ItemListCache;
  readonly listSubscriptions: Pick<ListSubscriptions, 'isSubscribed'>;
}

/** A server whose items are missing from a list, and why. */
export interface MissingServer {
  readonly server: ServerSnapshot;
  readonly state: Exclude<ServerAvailability, 'connected'>;
  readonly code: ErrorCode;
}

/** The servers of an endpoint, sorted by name. */
export function endpointServers(
  parts: EndpointParts,
  principal: Principal,
  endpoint: EndpointSelector,
): AllowedServer[] {
  if (endpoint.kind === 'one') return [findServer(parts, principal, endpoint.server)];
  return listAllowedServers(parts, principal).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The key in the public names of this server. Undefined at the endpoint of one server. */
export function serverKeyAt(
  parts: Pick<EndpointParts, 'serverKeys'>,
  { tenant }: Principal,
  endpoint: EndpointSelector,
  server: ServerSnapshot,
): string | undefined {
  return endpoint.kind === 'one' ? undefined : parts.serverKeys.keyOf(tenant, server);
}

export interface EndpointList {
  readonly items: readonly JsonObject[];
  readonly missing: readonly MissingServer[];
  /** Whether the gateway is notified of changes by every server of the list. */
  readonly hasChangeNotifications: boolean;
}

/** A tool with its name at an endpoint. */
export interface EndpointTool {
  readonly name: string;
  readonly server: ServerSnapshot;
  readonly tool: CatalogTool;
}

interface EndpointTools extends Omit<EndpointList, 'items'> {
  readonly tools: readonly EndpointTool[];
}

/** The tools of an endpoint, in MCP form. */
export async function listEndpointTools(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
): Promise<EndpointList> {
  const { tools, ...rest } = await loadEndpointTools(parts, inbound, endpoint);
  return { items: tools.map(({ name, tool }) => ({ ...tool.definition, name })), ...rest };
}

/** The tools of an endpoint or of one of its servers. */
async function loadEndpointTools(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  { serverName }: { readonly serverName?: string | undefined } = {},
): Promise<EndpointTools> {
  const { principal } = inbound;
  const allServers = endpointServers(parts, principal, endpoint);
  const servers =
    serverName === undefined ? allServers : allServers.filter(({ name }) => name === serverName);
  const listed = await listToolsOfServers(parts, inbound, servers);
  const endpointToolList: EndpointTool[] = [];
  const missing: MissingServer[] = [];
  const unprefixedName = createUnprefixedNameLookup(parts, principal, 'tools', (server) => {
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    return list && { names: list.tools.map(({ name }) => name), complete: list.complete };
  });
  for (const { server, state, code, cause, tools } of listed) {
    if (state !== 'connected' && code !== undefined) {
      throwIfSingleServer(endpoint, state, cause);
      missing.push({ server, state, code });
    }
    const key = serverKeyAt(parts, principal, endpoint, server);
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    const names = () => (list?.tools ?? tools).map(({ name }) => name);
    const prefixed = key === undefined ? undefined : prefixedNamesOf(list ?? tools, key, server.id, names);
    for (const tool of tools) {
      const name = prefixed
        ? (unprefixedName(server, tool.name) ?? prefixed.publicName(tool.name))
        : tool.name;
      if (name !== undefined) endpointToolList.push({ name, server, tool });
    }
  }
  return {
    tools: endpointToolList,
    missing,
    hasChangeNotifications: haveChangeNotifications(parts, servers, 'tools'),
  };
}

/** The prompts, resources or resource templates of an endpoint. Prompts are named like tools. */
export async function listEndpointItems(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  method: Exclude<ListMethod, 'tools/list'>,
): Promise<EndpointList> {
  const { principal } = inbound;
  const servers = endpointServers(parts, principal, endpoint);
  const loaded = await loadItems(parts, inbound, servers, method);
  const missing: MissingServer[] = [];
  const lists: [AllowedServer, ItemList][] = [];
  for (const [server, listed] of loaded) {
    if ('absence' in listed) {
      throwIfSingleServer(endpoint, listed.absence.state, listed.cause);
      missing.push({ server, ...listed.absence });
    } else lists.push([server, listed]);
  }
  const serverKeyOf = (server: ServerSnapshot) => serverKeyAt(parts, principal, endpoint, server);
  const items =
    method === 'prompts/list'
      ? withPublicNames(lists, serverKeyOf, createPromptNameLookup(parts, principal, lists))
      : withPublicAddresses(parts, principal, { lists, missing, method }, serverKeyOf);
  const kind = method === 'prompts/list' ? 'prompts' : 'resources';
  return { items, missing, hasChangeNotifications: haveChangeNotifications(parts, servers, kind) };
}

/** The prompts, resources or resource templates of each server. */
export function loadItems(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
  method: ListMethod,
  { fresh = false }: { fresh?: boolean } = {},
) {
  const { clock, itemLists } = parts;
  const { principal } = inbound;
  return loadFromEachServer(
    servers,
    (server, signal) => {
      const list = (cancellation: AbortSignal) =>
        listServer(parts, server.name, method, { ...inbound, signal: cancellation });
      return itemLists.load(server, ownerKey(server, principal), method, list, { fresh, signal });
    },
    { clock, signal: toAbortSignal(inbound.signal) },
  );
}

function createPromptNameLookup(
  parts: EndpointParts,
  principal: Principal,
  lists: readonly [AllowedServer, ItemList][],
): UnprefixedNameLookup {
  const namesByServer = new Map(lists.map(([{ name }, listed]) => [name, readPromptNames(listed)]));
  return createUnprefixedNameLookup(parts, principal, 'prompts', ({ name }) => namesByServer.get(name));
}

/** The names of listed prompts. Prompts without a name are dropped. */
export function readPromptNames({ items, complete }: ItemList): ListedNames {
  return { names: items.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])), complete };
}

function withPublicNames(
  lists: readonly [AllowedServer, ItemList][],
  serverKeyOf: (server: ServerSnapshot) => string | undefined,
  unprefixedName: UnprefixedNameLookup,
): JsonObject[] {
  return lists.flatMap(([server, listed]) => {
    const key = serverKeyOf(server);
    const prompts = listed.items.flatMap((item) => (typeof item['name'] === 'string' ? [item] : []));
    if (key === undefined) return prompts;
    const names = prefixedNamesOf(listed, key, server.id, () => readPromptNames(listed).names);
    return prompts.flatMap((item) => {
      const upstreamName = item['name'] as string;
      const name = unprefixedName(server, upstreamName) ?? names.publicName(upstreamName);
      return name === undefined ? [] : [{ ...item, name }];
    });
  });
}

interface AddressedLists {
  readonly lists: readonly [AllowedServer, ItemList][];
  readonly missing: readonly MissingServer[];
  readonly method: ListMethod;
}

/**
 * Wraps addresses so that a read reaches the listed server. An address of an operator's server stays as it is if no other
 * operator's server has it, including servers that are unavailable. Addresses of users' servers are always wrapped, so they
 * never depend on other servers. Apps that a tool names are not wrapped: clients find them only by that address.
 */
function withPublicAddresses(
  { itemLists, catalog }: EndpointParts,
  principal: Principal,
  { lists, missing, method }: AddressedLists,
  serverKeyOf: (server: ServerSnapshot) => string | undefined,
): JsonObject[] {
  const addressField = method === 'resources/list' ? 'uri' : 'uriTemplate';
  const unavailable = missing.map(({ server }) => {
    return [server, itemLists.peekLast(server, ownerKey(server, principal), method)] as const;
  });
  const owners = new Map<unknown, number>();
  for (const [{ source }, listed] of [...lists, ...unavailable]) {
    if (source === 'user') continue;
    for (const address of new Set(listed?.items.map((item) => item[addressField])))
      owners.set(address, (owners.get(address) ?? 0) + 1);
  }
  return lists.flatMap(([server, { items }]) =>
    items.flatMap((item) => {
      const address = item[addressField];
      if (typeof address !== 'string') return [];
      const key = serverKeyOf(server);
      const tools = catalog.peek(server, ownerKey(server, principal));
      const isUnwrapped =
        server.source === 'user'
          ? isAppAddress(address) && tools !== undefined && namesApp(tools, address)
          : isAppAddress(address) || (owners.get(address) === 1 && !unwrapAddress(address));
      if (key === undefined || isUnwrapped) return [item];
      return [{ ...item, [addressField]: wrapAddress(key, address) }];
    }),
  );
}

/** The list of a single server fails if the server fails. If only a sign-in is missing, the list is empty instead. */
function throwIfSingleServer(endpoint: EndpointSelector, state: Absence['state'], cause: unknown): void {
  if (endpoint.kind === 'all' || state === 'needs_authorization') return;
  throw cause instanceof Error ? cause : new GatewayError('MCP_UNREACHABLE');
}

/** The gateway subscribes to list changes of shared servers only. Lists of user-scoped servers are refreshed when used. */
function haveChangeNotifications(
  { listSubscriptions }: EndpointParts,
  servers: readonly ServerSnapshot[],
  kind: ListKind,
): boolean {
  return servers.every(({ id, scope }) => scope === 'app' && listSubscriptions.isSubscribed(id, kind));
}

export interface ToolSearchParts {
  readonly servers: EndpointParts;
  readonly search: ToolSearch;
}

interface ToolSearchRequest {
  readonly query: string;
  readonly limit: number;
  /** Limits the search to this server. No tools if the caller may not use it. */
  readonly server?: string | undefined;
}

interface ToolSearchResult {
  readonly tools: readonly EndpointTool[];
  /** Number of tools searched. */
  readonly searchedCount: number;
  readonly missing: readonly MissingServer[];
}

/** The best matches among the tools that the caller can list. */
export async function searchEndpointTools(
  { servers, search }: ToolSearchParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  { query, limit, server }: ToolSearchRequest,
): Promise<ToolSearchResult> {
  const { tools, missing } = await loadEndpointTools(servers, inbound, endpoint, { serverName: server });
  const context = { caller: principalKey(inbound.principal), signal: inbound.signal };
  return { tools: await search.find(tools, query, limit, context), searchedCount: tools.length, missing };
}

/** Whether the address is an MCP App. Clients require the scheme, so these addresses cannot be wrapped. */
export function isAppAddress(address: string): boolean {
  return address.startsWith('ui://');
}

/** Whether a tool names this address as its app. Servers need not list such resources. */
export function namesApp({ tools }: Pick<ToolList, 'tools'>, address: string): boolean {
  return tools.some(({ _meta = {} }) => {
    const { ui, 'ui/resourceUri': legacyAddress } = _meta;
    return (isObject(ui) && ui['resourceUri'] === address) || legacyAddress === address;
  });
}

/** The tools of each server, or the cached ones if the server cannot be listed. Undefined if there are none. */
export async function loadLastKnownTools(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
): Promise<(readonly [AllowedServer, ToolList | undefined])[]> {
  const results = await loadFromEachServer(
    servers,
    (server, signal) => loadCallerTools(parts, server, { ...inbound, signal }),
    { clock: parts.clock, signal: toAbortSignal(inbound.signal) },
  );
  return results.map(([server, list]) => [
    server,
    'absence' in list ? parts.catalog.peek(server, ownerKey(server, inbound.principal)) : list,
  ]);
}
