import { parseUrl } from '@behalf/contracts';
import { type Clock, LruMap, createSingleFlight, withTimeout } from '@behalf/kernel';
import type { Template } from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Cache } from '../../ports/index.ts';
import {
  type ServerSnapshot,
  mayRequireOAuth,
  usesClientCredentialsGrant,
} from '../../definitions/definition.ts';
import { SignInImpossible, type SignInTarget, targetWithoutUserValues } from './signInTarget.ts';

const MAX_AGE_MS = 60 * 60 * 1000;
/** Pause after a failed read. */
const RETRY_AFTER_MS = 60 * 1000;
const MAX_ENTRIES = 10_000;
const SHARED_CACHE_MS = 30 * 24 * 60 * 60 * 1000;
/** A user waits for the result. */
const TIMEOUT_MS = 6_000;

/** The login provider and the providers of token exchanges. */
export interface IdentityIssuers {
  /** Issuers whose endpoints are only known from their metadata. */
  list(): readonly string[];
  /** Rejects if the metadata cannot be read. */
  endpointsOf(issuer: string): Promise<readonly string[]>;
}

interface OperatorIssuerParts {
  /** The servers of the file, without overrides: an override must not end the protection of a server. */
  readonly servers: () => readonly ServerSnapshot[];
  /** Asks a server for its authorization server. */
  readonly readIssuers: (target: SignInTarget) => Promise<readonly string[]>;
  readonly identity: IdentityIssuers;
  /** Shared by all replicas and kept across restarts: the last response of each server. */
  readonly cache: Cache;
  readonly clock: Clock;
}

interface OperatorIssuerList {
  readonly urls: readonly string[];
  /** False: at least one server or issuer has never responded, so its authorization server is unknown. */
  readonly isComplete: boolean;
}

export interface OperatorIssuers {
  list(): Promise<OperatorIssuerList>;
  /** Uses cached data only. */
  readCached(): Promise<OperatorIssuerList>;
}

interface IssuerSource {
  readonly key: string;
  readonly load: () => Promise<readonly string[]>;
}

interface CacheEntry {
  /** Null: the source has never responded. */
  readonly urls: readonly string[] | null;
  readonly until: number;
}

/**
 * The authorization servers of the operator's servers and of the login. They come from the configuration and from the metadata of these
 * servers. A server that is down keeps its last response. A server that never responded makes the list incomplete; `IssuerRules`
 * decides what that prevents.
 */
export function createOperatorIssuers(parts: OperatorIssuerParts): OperatorIssuers {
  const { servers, readIssuers, identity, cache, clock } = parts;
  const flights = createSingleFlight<readonly string[] | null>();
  const entries = new LruMap<string, CacheEntry>(MAX_ENTRIES);

  async function readSharedCache(key: string): Promise<readonly string[] | null> {
    try {
      return JSON.parse((await cache.get(key)) ?? 'null') as string[] | null;
    } catch {
      return null;
    }
  }

  async function readCachedUrls(key: string): Promise<readonly string[] | null> {
    const cached = entries.get(key);
    if (cached) return cached.urls ?? (clock.now() < cached.until ? null : readSharedCache(key));
    const urls = await readSharedCache(key);
    // Expired from the start: `list` still asks the source.
    entries.set(key, { urls, until: urls ? 0 : clock.now() + RETRY_AFTER_MS });
    return urls;
  }

  async function fetchUrls({ key, load }: IssuerSource): Promise<readonly string[] | null> {
    try {
      const urls = await withTimeout(clock, TIMEOUT_MS, load(), () => {
        throw new Error('the request timed out');
      });
      entries.set(key, { urls, until: clock.now() + MAX_AGE_MS });
      await cache.set(key, JSON.stringify(urls), SHARED_CACHE_MS).catch(() => undefined);
      return urls;
    } catch (error) {
      const lastUrls = entries.get(key)?.urls ?? (await readSharedCache(key));
      const urls = lastUrls ?? (isPermanent(error) ? [] : null);
      entries.set(key, { urls, until: clock.now() + RETRY_AFTER_MS });
      return urls;
    }
  }

  async function resolveUrls(source: IssuerSource): Promise<readonly string[] | null> {
    const cached = entries.get(source.key);
    if (cached && clock.now() < cached.until) return cached.urls;
    return flights.run([source.key], () => fetchUrls(source), { detached: true });
  }

  function listSources(): IssuerSource[] {
    const serverSources = servers().flatMap((server): IssuerSource[] => {
      if (!mayRequireOAuth(server) && !usesClientCredentialsGrant(server.settings)) return [];
      // A URL that depends on a user's value has no single authorization server.
      const target = requiresIssuerDiscovery(server) ? targetWithoutUserValues(server) : undefined;
      const key = JSON.stringify([server.id, server.revision]);
      return target ? [{ key, load: () => readIssuers(target) }] : [];
    });
    const identitySources = identity.list().map((issuer) => ({
      key: JSON.stringify(['identity', issuer]),
      load: () => identity.endpointsOf(issuer),
    }));
    return [...serverSources, ...identitySources];
  }

  async function collectUrls(
    find: (source: IssuerSource) => Promise<readonly string[] | null>,
  ): Promise<OperatorIssuerList> {
    const urlLists = await Promise.all(listSources().map(find));
    return {
      urls: [...servers().flatMap(listConfiguredIssuers), ...urlLists.flatMap((urls) => urls ?? [])],
      isComplete: urlLists.every((urls) => urls !== null),
    };
  }

  return {
    list: () => collectUrls(resolveUrls),
    readCached: () => collectUrls(({ key }) => readCachedUrls(key)),
  };
}

/** The server has no sign-in, or the egress refuses it. This is not an outage. */
function isPermanent(error: unknown): boolean {
  return (
    error instanceof SignInImpossible ||
    (error instanceof GatewayError && error.code === 'MCP_DOMAIN_NOT_ALLOWED')
  );
}

/**
 * The authorization server in a definition: the issuer, and the origins of the endpoints. A placeholder in one field does not remove
 * the others.
 */
function listConfiguredIssuers({ settings: { oauth } }: ServerSnapshot): string[] {
  if (!oauth) return [];
  const { issuer, authorization_url, token_url, revocation_endpoint } = oauth;
  const origins = [authorization_url, token_url, revocation_endpoint].map(getTemplateOrigin);
  return [issuer, ...origins].filter((url) => url !== undefined);
}

/** Whether only the server's metadata names its authorization server. */
function requiresIssuerDiscovery({ settings }: ServerSnapshot): boolean {
  const { issuer, token_url, authorization_url } = settings.oauth ?? {};
  if (issuer !== undefined) return false;
  return (
    token_url === undefined || (authorization_url === undefined && !usesClientCredentialsGrant(settings))
  );
}

/** Undefined if the host contains a placeholder. */
function getTemplateOrigin(template: Template | undefined): string | undefined {
  if (template === undefined) return undefined;
  const firstPlaceholder = template.findIndex(({ kind }) => kind !== 'literal');
  const literal = (firstPlaceholder === -1 ? template : template.slice(0, firstPlaceholder))
    .map((part) => (part.kind === 'literal' ? part.text : ''))
    .join('');
  // The host ends before the first slash. Without a slash, the placeholder may continue the host.
  const urlPrefix = firstPlaceholder === -1 ? literal : /^[^/]*\/\/[^/?#]+[/?#]/.exec(literal)?.[0];
  return urlPrefix === undefined ? undefined : parseUrl(urlPrefix)?.origin;
}
