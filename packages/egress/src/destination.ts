import { EgressError } from './errors.ts';
import type { PoolScope } from './pools.ts';
import { readUrl, parseTarget } from './target.ts';

/** A URL that may be requested, read once. */
export class Destination {
  readonly url: URL;
  readonly host: string;
  readonly origin: string;
  readonly path: string;
  #scopeKey: string | undefined;
  #poolKey = '';

  constructor(url: URL) {
    this.url = url;
    this.host = url.hostname;
    this.origin = url.origin;
    this.path = url.pathname + url.search;
  }

  /** Under which name its kept connections lie. Almost every request repeats the one before. */
  poolKey(scope: PoolScope): string {
    if (this.#scopeKey !== scope.key) {
      this.#poolKey = JSON.stringify([scope.key, this.origin]);
      this.#scopeKey = scope.key;
    }
    return this.#poolKey;
  }
}

/** An HTTP request is for http(s) alone; the other schemes that a target may have are for sockets. */
export function readDestination(input: string | URL): Destination {
  const url = readUrl(input);
  const { host, protocol } = parseTarget(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new EgressError('bad_url', host);
  return new Destination(url);
}

export type ResolveDestination = (url: string) => Destination;

const MAX_CACHED_DESTINATIONS = 256;

/** Remembers the URLs that were asked for lately: reading one costs as much as the rest of a request's preparation. */
export function createDestinationResolver(): ResolveDestination {
  const cache = new Map<string, Destination>();
  /** Almost every request repeats the one before, and moving an entry costs a table every few times. */
  let latest: [url: string, destination: Destination] | undefined;
  return (url) => {
    if (latest?.[0] === url) return latest[1];
    let destination = cache.get(url);
    if (destination) cache.delete(url);
    else {
      destination = readDestination(url);
      const [oldest] = cache.keys();
      if (cache.size >= MAX_CACHED_DESTINATIONS && oldest !== undefined) cache.delete(oldest);
    }
    cache.set(url, destination);
    latest = [url, destination];
    return destination;
  };
}
