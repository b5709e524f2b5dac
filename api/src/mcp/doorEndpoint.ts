import { GatewayError, type EndpointSelector } from '@behalf/gateway';
import type { HotExchange } from '../http.ts';

/** An endpoint as its client wants to see it: with all tools, or with those by which the others are found. */
export type DoorEndpoint = EndpointSelector & { readonly search: boolean };

const ALL: DoorEndpoint = Object.freeze({ kind: 'all', search: false });

export function endpointOfAll({ query }: HotExchange): DoorEndpoint {
  return query === '' ? ALL : { kind: 'all', search: wantsSearch(query) };
}

export function endpointOfOne({ params, query }: HotExchange): DoorEndpoint {
  return { kind: 'one', server: params['serverName'] ?? '', search: query !== '' && wantsSearch(query) };
}

/** Whoever asks for something that there is not would otherwise be shown a thousand tools without knowing why. */
function wantsSearch(query: string): boolean {
  const given = new URLSearchParams(query).getAll('tools');
  if (given.length === 0) return false;
  if (given.length === 1 && given[0] === 'search') return true;
  throw new GatewayError('REQUEST_INVALID', {
    detail: 'The parameter "tools" of the address must be "search", or left out.',
  });
}

/**
 * One text per endpoint: what is sealed for one does not open at another. So it is with the two ways to see one: the same words
 * mean another tool there. Paths begin with a slash, so that no name of a server makes one of the other.
 */
export function endpointKey(endpoint: DoorEndpoint): string {
  const path = endpoint.kind === 'one' ? `/mcp/${endpoint.server}` : '/mcp';
  return endpoint.search ? `search:${path}` : path;
}
