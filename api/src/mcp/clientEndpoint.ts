import { GatewayError, type EndpointSelector } from '@behalf/gateway';
import type { FastExchange } from '../http/routes.ts';

/** An endpoint as its client wants to see it: with all tools, or with those by which the others are found. */
export type ClientEndpoint = EndpointSelector & { readonly search: boolean };

const ALL_SERVERS: ClientEndpoint = Object.freeze({ kind: 'all', search: false });

export function readAllServersEndpoint({ query }: FastExchange): ClientEndpoint {
  return query === '' ? ALL_SERVERS : { kind: 'all', search: isSearchMode(query) };
}

export function readServerEndpoint({ params, query }: FastExchange): ClientEndpoint {
  return { kind: 'one', server: params['serverName'] ?? '', search: query !== '' && isSearchMode(query) };
}

/** Whoever asks for something that there is not would otherwise be shown a thousand tools without knowing why. */
function isSearchMode(query: string): boolean {
  const values = new URLSearchParams(query).getAll('tools');
  if (values.length === 0) return false;
  if (values.length === 1 && values[0] === 'search') return true;
  throw new GatewayError('REQUEST_INVALID', {
    detail: 'The query parameter "tools" must be "search" or omitted.',
  });
}

/**
 * One text per endpoint: what is sealed for one does not open at another. So it is with the two ways to see one: the same words
 * mean another tool there. Paths begin with a slash, so that no name of a server makes one of the other.
 */
export function endpointKey(endpoint: ClientEndpoint): string {
  const path = endpoint.kind === 'one' ? `/mcp/${endpoint.server}` : '/mcp';
  return endpoint.search ? `search:${path}` : path;
}
