import type { Listed, ListMethod } from '../catalog/listAll.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { isAppAddress, lastKnownTools, namesApp } from './appAddresses.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import { endpointServers, type Endpoint, type EndpointParts } from './endpoint.ts';
import { loadItems } from './listEndpoint.ts';
import { holderKey } from './loadTools.ts';
import { fitsTemplate, unwrapAddress } from './resourceAddress.ts';
import type { Routed } from './routeEndpoint.ts';

/** Who vouches for a server, towards one caller: the operator, the caller, or somebody else. */
const standings = ['operator', 'own', 'shared'] as const;
type Standing = (typeof standings)[number];

function standingOf({ source, author }: ServerSnapshot, { userId }: Principal): Standing {
  if (source !== 'user') return 'operator';
  return author === userId ? 'own' : 'shared';
}

/**
 * Whose resource this is. One that two servers of the same standing have is neither's, unless the address says whose. Bare addresses are
 * the operator's servers': those need not list what their results link to, and a server of a user could list it in their
 * place. Only an app that a tool of theirs names is read from those without a key, while all of higher standing are known to lack
 * it: who shares a server must not get what is asked of the operator's by waiting for that to fail.
 */
export async function routeResource(
  parts: EndpointParts,
  inbound: Inbound,
  endpoint: Endpoint,
  address: string,
): Promise<Routed> {
  if (endpoint.kind === 'one') return { server: endpoint.server, name: address };
  const { principal } = inbound;
  const wrapped = unwrapAddress(address);
  if (wrapped) {
    const server = parts.serverKeys.nameOf(principal.tenant, wrapped.key);
    if (server === undefined) throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
    return { server, name: wrapped.address };
  }
  let left = endpointServers(parts, principal, endpoint);
  for (const standing of standings) {
    const group = left.filter((server) => standingOf(server, principal) === standing);
    left = left.filter((server) => !group.includes(server));
    const claims = standing === 'operator' ? claimsTo : appsAt;
    const { owners, unknown } = await claims(parts, inbound, group, address);
    // Among strangers each may be the one whose address another took.
    const isOpen = standing === 'shared' && unknown.some((server) => !owners.includes(server));
    if (owners.length > 0 && !isOpen) return only(owners, address);
    if (unknown.length > 0 && (isOpen || left.length > 0))
      throw ambiguous('Not all servers can be listed now.');
  }
  throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
}

interface Claims {
  readonly owners: readonly Allowed[];
  /** Those that may have it: never listed, or not as a whole. */
  readonly unknown: readonly Allowed[];
}

/** Who has this address: by name, by what a tool names, or else by a template. Of those that are away, by what they last had. */
async function claimsTo(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly Allowed[],
  address: string,
): Promise<Claims> {
  const [listed, apps] = await Promise.all([
    lastKnown(parts, inbound, servers, 'resources/list'),
    appsAt(parts, inbound, servers, address),
  ]);
  const named = new Set([...ownersIn(listed, ({ uri }) => uri === address), ...apps.owners]);
  const unknown = [...unknownIn(listed), ...apps.unknown];
  if (named.size > 0) return { owners: [...named], unknown };
  const templates = await lastKnown(parts, inbound, servers, 'resources/templates/list');
  const fitting = ownersIn(
    templates,
    ({ uriTemplate }) =>
      typeof uriTemplate === 'string' &&
      (uriTemplate === address || (isSpecific(uriTemplate) && fitsTemplate(uriTemplate, address))),
  );
  return { owners: fitting, unknown: [...unknown, ...unknownIn(templates)] };
}

/** Whose tools name this address. */
async function appsAt(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly Allowed[],
  address: string,
): Promise<Claims> {
  if (!isAppAddress(address)) return { owners: [], unknown: [] };
  const known = await lastKnownTools(parts, inbound, servers);
  return {
    owners: known.flatMap(([server, list]) => (list && namesApp(list, address) ? [server] : [])),
    unknown: unknownIn(known),
  };
}

type Known = readonly (readonly [Allowed, Listed | undefined])[];

async function lastKnown(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly Allowed[],
  method: ListMethod,
): Promise<Known> {
  const loaded = await loadItems(parts, inbound, servers, method);
  return loaded.map(([server, listed]) => [
    server,
    'absence' in listed ? parts.listings.last(server, holderKey(server, inbound.principal), method) : listed,
  ]);
}

function ownersIn(known: Known, isIt: (item: Listed['items'][number]) => boolean): Allowed[] {
  return known.flatMap(([server, listed]) => (listed?.items.some(isIt) ? [server] : []));
}

function unknownIn(
  known: readonly (readonly [Allowed, { readonly complete: boolean } | undefined])[],
): Allowed[] {
  return known.flatMap(([server, listed]) => (listed?.complete ? [] : [server]));
}

/** A template that fits every address would claim those of all other servers. */
function isSpecific(template: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(template);
}

function only(servers: readonly Allowed[], address: string): Routed {
  const [server, other] = servers;
  if (!server) throw new GatewayError('MCP_RESOURCE_NOT_FOUND');
  if (other && isAppAddress(address))
    // A list gives it bare for each of them: hosts know an app by how its address begins.
    throw new GatewayError('MCP_RESOURCE_NOT_FOUND', {
      detail: `Several servers have an app at this address. Read it as behalf:<server>/${address} with the server whose tool named it, or at the endpoint of that server.`,
    });
  if (other) throw ambiguous('Several servers have a resource at this address.');
  return { server: server.name, name: address };
}

function ambiguous(why: string): GatewayError {
  return new GatewayError('MCP_RESOURCE_NOT_FOUND', {
    detail: `${why} List the resources and use the address given there.`,
  });
}
