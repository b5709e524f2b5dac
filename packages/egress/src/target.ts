import { type Address, parseAddress } from './address.ts';
import { EgressError } from './errors.ts';
import type { PoolScope } from './pools.ts';

/** The target of a URL in the normalized form that all rules compare. */
export interface NetworkTarget {
  readonly protocol: string;
  /** Lower case, without brackets and without a trailing dot. */
  readonly host: string;
  /** The effective port. Never empty. */
  readonly port: number;
  readonly tls: boolean;
  /** Set if the host is an IP address. */
  readonly ipAddress: Address | undefined;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'ws:': 80,
  'wss:': 443,
};

export function defaultPort(protocol: string): number | undefined {
  return DEFAULT_PORTS[protocol];
}

/** Replaces the platform's error, whose message repeats the URL and may contain a secret. */
export function readUrl(input: string | URL): URL {
  try {
    return new URL(input);
  } catch {
    throw new EgressError('bad_url', 'The URL');
  }
}

/** Parses the URL of a request: http(s), or ws(s) for a socket, without a user name or password. */
export function parseTarget(url: URL): NetworkTarget {
  const host = normalizeHost(url.hostname);
  // A resolver may read `a..` as `a.`, but the comparisons here do not. Reject the name.
  if (hasEmptyLabel(host)) throw new EgressError('bad_url', host, { detail: 'empty label in the host name' });
  const standardPort = defaultPort(url.protocol);
  if (standardPort === undefined || url.username !== '' || url.password !== '' || host === '') {
    throw new EgressError('bad_url', host === '' ? 'The URL' : host);
  }
  return {
    protocol: url.protocol,
    host,
    port: url.port === '' ? standardPort : Number(url.port),
    tls: url.protocol === 'https:' || url.protocol === 'wss:',
    ipAddress: parseAddress(host),
  };
}

/** The host in the normal form of the URL standard (IDNA, IPv4 notations); undefined if it is not a valid host. */
export function parseHost(text: string): string | undefined {
  if (text === '' || /[\s/?#@\\]/.test(text)) return undefined;
  try {
    const url = new URL(`http://${text}/`);
    const host = normalizeHost(url.hostname);
    return url.port === '' && host !== '' && !hasEmptyLabel(host) ? host : undefined;
  } catch {
    return undefined;
  }
}

function hasEmptyLabel(host: string): boolean {
  return /^\.|\.\.|\.$/.test(host);
}

function normalizeHost(hostname: string): string {
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  // `localhost.` and `localhost` are the same name. Remove the root label, so that it cannot bypass a comparison.
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

/** The parsed URL of a request. */
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

  /**
   * The key of the connection pool. Almost every request has the same scope as the previous one, so the last key is
   * cached.
   */
  poolKey(scope: PoolScope): string {
    if (this.#scopeKey !== scope.key) {
      this.#poolKey = JSON.stringify([scope.key, this.origin]);
      this.#scopeKey = scope.key;
    }
    return this.#poolKey;
  }
}

/** HTTP requests use http(s). The other schemes are for sockets. */
export function readDestination(input: string | URL): Destination {
  const url = readUrl(input);
  const { host, protocol } = parseTarget(url);
  if (protocol !== 'https:' && protocol !== 'http:') throw new EgressError('bad_url', host);
  return new Destination(url);
}

export type ResolveDestination = (url: string) => Destination;

const MAX_CACHED_DESTINATIONS = 256;

/** Caches parsed URLs: parsing one costs as much as the rest of preparing a request. */
export function createDestinationResolver(): ResolveDestination {
  const cache = new Map<string, Destination>();
  /** Almost every request has the same URL as the previous one. This avoids moving the entry in the map each time. */
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
