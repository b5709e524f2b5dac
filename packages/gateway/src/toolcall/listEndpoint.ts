import { toAbortSignal } from '@behalf/kernel';
import { eachServer, type Absence } from '../catalog/eachServer.ts';
import type { Listed, ListMethod } from '../catalog/listAll.ts';
import { prefixedNamesOf } from '../catalog/prefixedNames.ts';
import type { CatalogTool } from '../catalog/toolList.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { JsonObject, ListKind } from '../upstream/upstream.ts';
import { isAppAddress, namesApp } from './appAddresses.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import { endpointServers, keyAt, type Endpoint, type EndpointParts, type MissingServer } from './endpoint.ts';
import { listServer } from './listServer.ts';
import { listToolsOf } from './listTools.ts';
import { holderKey } from './loadTools.ts';
import { createOwnName, type KnownNames, type OwnName } from './ownNames.ts';
import { unwrapAddress, wrapAddress } from './resourceAddress.ts';

export interface EndpointList {
  readonly items: readonly JsonObject[];
  readonly missing: readonly MissingServer[];
  /** Whether every server of it tells when it changes. */
  readonly followed: boolean;
}

/** A tool under the name by which a call at an endpoint finds it. */
export interface EndpointTool {
  readonly name: string;
  readonly server: ServerSnapshot;
  readonly tool: CatalogTool;
}

export interface EndpointTools extends Omit<EndpointList, 'items'> {
  readonly tools: readonly EndpointTool[];
}

/** The tools that a call at this endpoint would find, under the names by which it would find them. */
export async function listEndpointTools(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
): Promise<EndpointList> {
  const { tools, ...others } = await endpointTools(parts, inbound, endpoint);
  return { items: tools.map(({ name, tool }) => ({ ...tool.definition, name })), ...others };
}

/** The same as the catalog has them. `only`: of the server of this name, where there is one for this caller. */
export async function endpointTools(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  { only }: { readonly only?: string | undefined } = {},
): Promise<EndpointTools> {
  const { principal } = inbound;
  const all = endpointServers(parts, principal, endpoint);
  const servers = only === undefined ? all : all.filter(({ name }) => name === only);
  const listed = await listToolsOf(parts, inbound, servers);
  const found: EndpointTool[] = [];
  const missing: MissingServer[] = [];
  const ownName = createOwnName(parts, principal, 'tools', (server) => {
    const list = parts.catalog.peek(server, holderKey(server, principal));
    return list && { names: list.tools.map(({ name }) => name), complete: list.complete };
  });
  for (const { server, state, code, cause, tools } of listed) {
    if (state !== 'connected' && code !== undefined) {
      refuseLone(endpoint, state, cause);
      missing.push({ server, state, code });
    }
    const key = keyAt(parts, principal, endpoint, server);
    const list = parts.catalog.peek(server, holderKey(server, principal));
    const names = () => (list?.tools ?? tools).map(({ name }) => name);
    const named = key === undefined ? undefined : prefixedNamesOf(list ?? tools, key, server.id, names);
    for (const tool of tools) {
      const name = named ? (ownName(server, tool.name) ?? named.publicName(tool.name)) : tool.name;
      if (name !== undefined) found.push({ name, server, tool });
    }
  }
  return { tools: found, missing, followed: isFollowed(parts, servers, 'tools') };
}

/** What is listed besides tools. Prompts are named as tools are; addresses of the operator's servers stay as they are unless two have one. */
export async function listEndpointItems(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  method: Exclude<ListMethod, 'tools/list'>,
): Promise<EndpointList> {
  const { principal } = inbound;
  const servers = endpointServers(parts, principal, endpoint);
  const loaded = await loadItems(parts, inbound, servers, method);
  const missing: MissingServer[] = [];
  const lists: [Allowed, Listed][] = [];
  for (const [server, listed] of loaded) {
    if ('absence' in listed) {
      refuseLone(endpoint, listed.absence.state, listed.cause);
      missing.push({ server, ...listed.absence });
    } else lists.push([server, listed]);
  }
  const keyOf = (server: ServerSnapshot) => keyAt(parts, principal, endpoint, server);
  const items =
    method === 'prompts/list'
      ? renamed(lists, keyOf, promptNames(parts, principal, lists))
      : addressed(parts, principal, { lists, missing, method }, keyOf);
  const kind = method === 'prompts/list' ? 'prompts' : 'resources';
  return { items, missing, followed: isFollowed(parts, servers, kind) };
}

/** What each of these servers has of one kind. */
export function loadItems(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly Allowed[],
  method: ListMethod,
  { fresh = false }: { fresh?: boolean } = {},
) {
  const { clock, listings } = parts;
  const { principal } = inbound;
  return eachServer(
    servers,
    (server, signal) => {
      const list = (stop: AbortSignal) =>
        listServer(parts, server.name, method, { ...inbound, signal: stop });
      return listings.load(server, holderKey(server, principal), method, list, { fresh, signal });
    },
    { clock, signal: toAbortSignal(inbound.signal) },
  );
}

function promptNames(
  parts: EndpointParts,
  principal: Principal,
  lists: readonly [Allowed, Listed][],
): OwnName {
  const known = new Map(lists.map(([{ name }, listed]) => [name, knownPrompts(listed)]));
  return createOwnName(parts, principal, 'prompts', ({ name }) => known.get(name));
}

/** Prompts by name. Of what has none nothing is shown. */
export function knownPrompts({ items, complete }: Listed): KnownNames {
  return { names: items.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])), complete };
}

function renamed(
  lists: readonly [Allowed, Listed][],
  keyOf: (server: ServerSnapshot) => string | undefined,
  ownName: OwnName,
): JsonObject[] {
  return lists.flatMap(([server, listed]) => {
    const key = keyOf(server);
    const named = listed.items.flatMap((item) => (typeof item['name'] === 'string' ? [item] : []));
    if (key === undefined) return named;
    const names = prefixedNamesOf(listed, key, server.id, () => knownPrompts(listed).names);
    return named.flatMap((item) => {
      const own = item['name'] as string;
      const name = ownName(server, own) ?? names.publicName(own);
      return name === undefined ? [] : [{ ...item, name }];
    });
  });
}

interface Addressed {
  readonly lists: readonly [Allowed, Listed][];
  readonly missing: readonly MissingServer[];
  readonly method: ListMethod;
}

/**
 * Addresses by which a read reaches that very server: bare where no other server of the operator has the same, also none that is
 * away. What users made never stands bare among them, so that no address changes with what others have: but for apps that a tool of
 * theirs names, which clients look for under that address alone.
 */
function addressed(
  { listings, catalog }: EndpointParts,
  principal: Principal,
  { lists, missing, method }: Addressed,
  keyOf: (server: ServerSnapshot) => string | undefined,
): JsonObject[] {
  const member = method === 'resources/list' ? 'uri' : 'uriTemplate';
  const away = missing.map(({ server }) => {
    return [server, listings.last(server, holderKey(server, principal), method)] as const;
  });
  const owners = new Map<unknown, number>();
  for (const [{ source }, listed] of [...lists, ...away]) {
    if (source === 'user') continue;
    for (const address of new Set(listed?.items.map((item) => item[member])))
      owners.set(address, (owners.get(address) ?? 0) + 1);
  }
  return lists.flatMap(([server, { items }]) =>
    items.flatMap((item) => {
      const address = item[member];
      if (typeof address !== 'string') return [];
      const key = keyOf(server);
      const tools = catalog.peek(server, holderKey(server, principal));
      const isBare =
        server.source === 'user'
          ? isAppAddress(address) && tools !== undefined && namesApp(tools, address)
          : isAppAddress(address) || (owners.get(address) === 1 && !unwrapAddress(address));
      if (key === undefined || isBare) return [item];
      return [{ ...item, [member]: wrapAddress(key, address) }];
    }),
  );
}

/** Where there is but one server, its failure is the answer. That its user must sign in is not: lists go on without. */
function refuseLone(endpoint: Endpoint, state: Absence['state'], cause: unknown): void {
  if (endpoint.kind === 'all' || state === 'needs_authorization') return;
  throw cause instanceof Error ? cause : new GatewayError('MCP_UNREACHABLE');
}

/** A shared server that says when its lists change is listened to; a user's own is asked again when it is used. */
function isFollowed(
  { listFeeds }: EndpointParts,
  servers: readonly ServerSnapshot[],
  kind: ListKind,
): boolean {
  return servers.every(({ id, scope }) => scope === 'app' && listFeeds.follows(id, kind));
}
