import { parseUrl } from '@behalf/contracts';
import { type Clock, createSingleFlight, withTimeout } from '@behalf/kernel';
import type { Template } from '@behalf/settings';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Cache } from '../../ports/index.ts';
import {
  type ServerSnapshot,
  mayRequireOAuth,
  usesClientCredentialsGrant,
} from '../../servers/definition.ts';
import { createLruMap } from '../lruMap.ts';
import { SignInImpossible, type SignInTarget, targetWithoutUserValues } from './signInTarget.ts';

const MAX_AGE_MS = 60 * 60 * 1000;
/** After a failure it is asked again no sooner. */
const RETRY_AFTER_MS = 60 * 1000;
const MAX_ENTRIES = 10_000;
const SHARED_CACHE_MS = 30 * 24 * 60 * 60 * 1000;
/** Whoever waits for this has a user waiting. */
const TIMEOUT_MS = 6_000;

/** Where people sign in to this gateway, and who exchanges their tokens. */
export interface IdentityIssuers {
  /** Those whose endpoints only their metadata tells. */
  list(): readonly string[];
  /** Rejects while nobody can say. */
  endpointsOf(issuer: string): Promise<readonly string[]>;
}

interface OperatorIssuerParts {
  /** Every server of the file, as the file has it: what an administrator lays over one does not end its protection. */
  readonly servers: () => readonly ServerSnapshot[];
  /** Which authorization server it uses, when it is asked. */
  readonly readIssuers: (target: SignInTarget) => Promise<readonly string[]>;
  readonly identity: IdentityIssuers;
  /** For all processes, and over restarts: what somebody said while they answered. */
  readonly cache: Cache;
  readonly clock: Clock;
}

interface OperatorIssuerList {
  readonly urls: readonly string[];
  /** False: somebody who was asked never answered, and what they would add is not known. */
  readonly isComplete: boolean;
}

export interface OperatorIssuers {
  list(): Promise<OperatorIssuerList>;
  /** Without asking anybody but the cache. */
  readCached(): Promise<OperatorIssuerList>;
}

/** Somebody who can say where an authorization server of the operator's is. */
interface IssuerSource {
  readonly key: string;
  readonly load: () => Promise<readonly string[]>;
}

interface CacheEntry {
  /** Null: never answered. */
  readonly urls: readonly string[] | null;
  readonly until: number;
}

/**
 * The authorization servers that the operator's own servers and sign-ins use: what is written down, and what those say when they
 * are asked. Who is away keeps the answer that they gave last. Who never answered makes the list incomplete, and it is for the rules
 * to say what may be done meanwhile.
 */
export function createOperatorIssuers(parts: OperatorIssuerParts): OperatorIssuers {
  const { servers, readIssuers, identity, cache, clock } = parts;
  const flights = createSingleFlight<readonly string[] | null>();
  const entries = createLruMap<CacheEntry>(MAX_ENTRIES);

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
    // Over at once: it counts for who asks nobody, and whoever may ask does.
    entries.set(key, { urls, until: urls ? 0 : clock.now() + RETRY_AFTER_MS });
    return urls;
  }

  async function fetchUrls({ key, load: load }: IssuerSource): Promise<readonly string[] | null> {
    try {
      const urls = await withTimeout(clock, TIMEOUT_MS, load(), () => {
        throw new Error('the request timed out');
      });
      entries.set(key, { urls, until: clock.now() + MAX_AGE_MS });
      await cache.set(key, JSON.stringify(urls), SHARED_CACHE_MS).catch(() => undefined);
      return urls;
    } catch (error) {
      const urls =
        entries.get(key)?.urls ?? (await readSharedCache(key)) ?? (isDefinitive(error) ? [] : null);
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
      // An address that depends on a user's value is nobody's in particular.
      const target = requiresIssuerDiscovery(server) ? targetWithoutUserValues(server) : undefined;
      return target ? [{ key: serverKey(server), load: () => readIssuers(target) }] : [];
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

/** Nobody can sign in there, or the door out is closed: that is known, and no outage. */
function isDefinitive(error: unknown): boolean {
  if (error instanceof SignInImpossible) return true;
  return error instanceof GatewayError && error.code === 'MCP_DOMAIN_NOT_ALLOWED';
}

function serverKey({ id, revision }: ServerSnapshot): string {
  return JSON.stringify([id, revision]);
}

/**
 * Where a definition says that its authorization server is. Field by field: that one of them waits for a user's value makes the others
 * no less written down, and of an address only its origin counts.
 */
function listConfiguredIssuers({ settings: { oauth } }: ServerSnapshot): string[] {
  if (!oauth) return [];
  const { issuer, authorization_url, token_url, revocation_endpoint } = oauth;
  const origins = [authorization_url, token_url, revocation_endpoint].map(getTemplateOrigin);
  return [issuer, ...origins].filter((url) => url !== undefined);
}

/** Whether only the server itself can say who its authorization server is. */
function requiresIssuerDiscovery({ settings }: ServerSnapshot): boolean {
  const { issuer, token_url, authorization_url } = settings.oauth ?? {};
  if (issuer !== undefined) return false;
  return (
    token_url === undefined || (authorization_url === undefined && !usesClientCredentialsGrant(settings))
  );
}

/** Undefined where the host itself depends on a value. */
function getTemplateOrigin(template: Template | undefined): string | undefined {
  if (template === undefined) return undefined;
  const firstPlaceholder = template.findIndex(({ kind }) => kind !== 'literal');
  const literal = (firstPlaceholder === -1 ? template : template.slice(0, firstPlaceholder))
    .map((part) => (part.kind === 'literal' ? part.text : ''))
    .join('');
  // The slash after the host: before it more of the host may follow.
  const urlPrefix = firstPlaceholder === -1 ? literal : /^[^/]*\/\/[^/?#]+[/?#]/.exec(literal)?.[0];
  return urlPrefix === undefined ? undefined : parseUrl(urlPrefix)?.origin;
}
