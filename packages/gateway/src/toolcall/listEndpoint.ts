import { toAbortSignal } from '@behalf/kernel';
import { eachServer, type Absence } from '../catalog/eachServer.ts';
import type { Listed, ListMethod } from '../catalog/listAll.ts';
import { prefixedNamesOf } from '../catalog/prefixedNames.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Json } from '../upstream/upstream.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import { endpointServers, keyAt, type Endpoint, type EndpointParts, type MissingServer } from './endpoint.ts';
import { listServer } from './listServer.ts';
import { listToolsOf } from './listTools.ts';
import { holderKey } from './loadTools.ts';
import { wrapAddress } from './resourceAddress.ts';

export interface EndpointList {
  readonly items: readonly Json[];
  readonly missing: readonly MissingServer[];
  /** Whether every server of it tells when it changes. */
  readonly followed: boolean;
}

/** The tools that a call at this endpoint would find, under the names by which it would find them. */
export async function listEndpointTools(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
): Promise<EndpointList> {
  const { principal } = inbound;
  const servers = endpointServers(parts, principal, endpoint);
  const listed = await listToolsOf(parts, inbound, servers);
  const items: Json[] = [];
  const missing: MissingServer[] = [];
  for (const { server, state, code, cause, tools } of listed) {
    if (state !== 'connected' && code !== undefined) {
      refuseLone(endpoint, state, cause);
      missing.push({ server, state, code });
    }
    const key = keyAt(parts, principal, endpoint, server);
    const list = parts.catalog.peek(server, holderKey(server, principal));
    const all = () => (list?.tools ?? tools).map(({ name }) => name);
    const names = key === undefined ? undefined : prefixedNamesOf(list ?? tools, key, server.id, all);
    for (const { name, definition } of tools) {
      const publicName = names ? names.publicName(name) : name;
      if (publicName !== undefined) items.push({ ...definition, name: publicName });
    }
  }
  return { items, missing, followed: isFollowed(servers) };
}

/** What is listed besides tools. Prompts are named as tools are; addresses stay as they are unless two servers have one. */
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
  const items = method === 'prompts/list' ? renamed(lists, keyOf) : addressed(lists, keyOf, method);
  return { items, missing, followed: isFollowed(servers) };
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
      const list = () => listServer(parts, server.name, method, { ...inbound, signal });
      return listings.load(server, holderKey(server, principal), method, list, { fresh });
    },
    { clock, signal: toAbortSignal(inbound.signal) },
  );
}

function renamed(
  lists: readonly [Allowed, Listed][],
  keyOf: (server: ServerSnapshot) => string | undefined,
): Json[] {
  return lists.flatMap(([server, listed]) => {
    const key = keyOf(server);
    const named = listed.items.flatMap((item) => (typeof item['name'] === 'string' ? [item] : []));
    if (key === undefined) return named;
    const names = prefixedNamesOf(listed, key, server.id, () => named.map(({ name }) => name as string));
    return named.flatMap((item) => {
      const name = names.publicName(item['name'] as string);
      return name === undefined ? [] : [{ ...item, name }];
    });
  });
}

function addressed(
  lists: readonly [Allowed, Listed][],
  keyOf: (server: ServerSnapshot) => string | undefined,
  method: ListMethod,
): Json[] {
  const member = method === 'resources/list' ? 'uri' : 'uriTemplate';
  const owners = new Map<unknown, number>();
  for (const [, { items }] of lists) {
    for (const address of new Set(items.map((item) => item[member])))
      owners.set(address, (owners.get(address) ?? 0) + 1);
  }
  return lists.flatMap(([server, { items }]) =>
    items.flatMap((item) => {
      const address = item[member];
      if (typeof address !== 'string') return [];
      const key = keyOf(server);
      if (key === undefined || (owners.get(address) ?? 0) < 2 || address.startsWith('ui://')) return [item];
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
function isFollowed(servers: readonly ServerSnapshot[]): boolean {
  return servers.every(({ scope }) => scope === 'app');
}
