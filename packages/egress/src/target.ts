import { type Address, parseAddress } from './address.ts';
import { EgressError } from './errors.ts';
import type { PoolScope } from './pools.ts';

/** Where a URL leads, in the one form that every rule compares. */
export interface NetworkTarget {
  readonly protocol: string;
  /** Lower case, without brackets and without a trailing dot. */
  readonly host: string;
  /** The effective port: never empty. */
  readonly port: number;
  readonly tls: boolean;
  /** The address when the host is a literal. */
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

/** The platform's error would repeat the text, which may hold a secret. */
export function readUrl(input: string | URL): URL {
  try {
    return new URL(input);
  } catch {
    throw new EgressError('bad_url', 'The URL');
  }
}

/** Reads a URL that may be requested: http(s), or ws(s) for a socket, and no user name or password in it. */
export function parseTarget(url: URL): NetworkTarget {
  const host = normalizeHost(url.hostname);
  // The resolver may read `a..` as `a.`, which no comparison here would: a name that can pass for another is no name.
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

/** A host as the URL standard spells it (IDNA, odd IPv4 forms), or undefined when it is none. */
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
  // `localhost.` is `localhost`: the root label must not slip past a comparison.
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
}

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
