import type { AllowedServer } from '../access/allowedServer.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../definitions/definition.ts';
import { ownerKey } from '../tools/catalog.ts';
import { matchesTemplate, unwrapAddress } from '../tools/names.ts';
import type { ItemList, ListMethod } from '../upstream/listAll.ts';
import type { Inbound } from './inbound.ts';
import {
  type EndpointParts,
  type EndpointSelector,
  endpointServers,
  isAppAddress,
  loadItems,
  loadLastKnownTools,
  namesApp,
} from './listEndpoint.ts';
import type { RoutedName } from './resolveName.ts';

/** Who defined a server: the operator, the caller, or another user who shares it. Highest trust first. */
const trustLevels = ['operator', 'own', 'shared'] as const;
type TrustLevel = (typeof trustLevels)[number];

function trustLevelOf({ source, author }: ServerSnapshot, { userId }: Principal): TrustLevel {
  if (source !== 'user') return 'operator';
  return author === userId ? 'own' : 'shared';
}

/**
 * Finds the server of a resource. If several servers of one trust level have the address, the caller must use the wrapped
 * address. Unwrapped addresses belong to the operator's servers, whose results can link to resources that they do not list.
 * Servers of users answer only to unwrapped addresses of apps that their tools name, and only if all servers of higher trust
 * are known to lack the address. Otherwise a shared server could capture requests for an operator's server that is
 * unavailable.
 */
export async function routeResource(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: EndpointSelector,
  address: string,
): Promise<RoutedName> {
  if (endpoint.kind === 'one') return { server: endpoint.server, name: address };
  const { principal } = inbound;
  const wrapped = unwrapAddress(address);
  if (wrapped) {
    const server = parts.serverKeys.nameOf(principal.tenant, wrapped.key);
    if (server === undefined) throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
    return { server, name: wrapped.address };
  }
  let remaining = endpointServers(parts, principal, endpoint);
  for (const trustLevel of trustLevels) {
    const group = remaining.filter((server) => trustLevelOf(server, principal) === trustLevel);
    remaining = remaining.filter((server) => !group.includes(server));
    const findClaims = trustLevel === 'operator' ? findAddressClaims : findAppClaims;
    const { owners, undetermined } = await findClaims(parts, inbound, group, address);
    // Another shared server that cannot be listed may be the real owner.
    const isUndecided = trustLevel === 'shared' && undetermined.some((server) => !owners.includes(server));
    if (owners.length > 0 && !isUndecided) return requireSingleOwner(owners, address);
    if (undetermined.length > 0 && (isUndecided || remaining.length > 0))
      throw toAmbiguousError('Some servers cannot be listed at the moment.');
  }
  throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
}

interface AddressClaims {
  readonly owners: readonly AllowedServer[];
  /** Servers that may have the address: never listed, or listed incompletely. */
  readonly undetermined: readonly AllowedServer[];
}

/** Servers that list the address, name it in a tool, or have a matching template. Uses the last known lists. */
async function findAddressClaims(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
  address: string,
): Promise<AddressClaims> {
  const [listed, apps] = await Promise.all([
    loadLastKnown(parts, inbound, servers, 'resources/list'),
    findAppClaims(parts, inbound, servers, address),
  ]);
  const directOwners = new Set([...findOwners(listed, ({ uri }) => uri === address), ...apps.owners]);
  const undetermined = [...findUndetermined(listed), ...apps.undetermined];
  if (directOwners.size > 0) return { owners: [...directOwners], undetermined };
  const templates = await loadLastKnown(parts, inbound, servers, 'resources/templates/list');
  const templateOwners = findOwners(
    templates,
    ({ uriTemplate }) =>
      typeof uriTemplate === 'string' &&
      (uriTemplate === address || (hasScheme(uriTemplate) && matchesTemplate(uriTemplate, address))),
  );
  return { owners: templateOwners, undetermined: [...undetermined, ...findUndetermined(templates)] };
}

/** Servers whose tools name the address as their app. */
async function findAppClaims(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
  address: string,
): Promise<AddressClaims> {
  if (!isAppAddress(address)) return { owners: [], undetermined: [] };
  const lists = await loadLastKnownTools(parts, inbound, servers);
  return {
    owners: lists.flatMap(([server, list]) => (list && namesApp(list, address) ? [server] : [])),
    undetermined: findUndetermined(lists),
  };
}

type KnownItemLists = readonly (readonly [AllowedServer, ItemList | undefined])[];

async function loadLastKnown(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
  method: ListMethod,
): Promise<KnownItemLists> {
  const results = await loadItems(parts, inbound, servers, method);
  return results.map(([server, listed]) => [
    server,
    'absence' in listed
      ? parts.itemLists.peekLast(server, ownerKey(server, inbound.principal), method)
      : listed,
  ]);
}

function findOwners(
  lists: KnownItemLists,
  matches: (item: ItemList['items'][number]) => boolean,
): AllowedServer[] {
  return lists.flatMap(([server, listed]) => (listed?.items.some(matches) ? [server] : []));
}

function findUndetermined(
  lists: readonly (readonly [AllowedServer, { readonly complete: boolean } | undefined])[],
): AllowedServer[] {
  return lists.flatMap(([server, listed]) => (listed?.complete ? [] : [server]));
}

/** A template without a scheme would match the addresses of all other servers. */
function hasScheme(template: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(template);
}

function requireSingleOwner(servers: readonly AllowedServer[], address: string): RoutedName {
  const [server, secondServer] = servers;
  if (!server) throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
  if (secondServer && isAppAddress(address))
    // Lists never wrap `ui://` addresses, because hosts recognize apps by the scheme.
    throw new GatewayError('MCP_RESOURCE_NOT_FOUND', {
      detail: `Several servers have an app at this address. Read it as behalf:<server>/${address} with the name of the server whose tool refers to it, or use the endpoint of that server.`,
    });
  if (secondServer) throw toAmbiguousError('Several servers have a resource at this address.');
  return { server: server.name, name: address };
}

function toAmbiguousError(reason: string): GatewayError {
  return new GatewayError('MCP_RESOURCE_NOT_FOUND', {
    detail: `${reason} List the resources and use the address given there.`,
  });
}
