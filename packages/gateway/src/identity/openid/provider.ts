import { isLoopbackHost, parseUrl } from '@behalf/contracts';
import { type Clock, type Fetch, createSingleFlight, isObject, readBoundedText } from '@behalf/kernel';
import { type JSONWebKeySet, type LocalJWKSet, createLocalJWKSet } from 'jose';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';

/** The document that contains a claim: access token, ID token or userinfo response. */
export type ClaimSource = 'access' | 'id' | 'userinfo';

/** Matches if the claim contains one of the values. */
export interface ClaimRule {
  readonly values: readonly string[];
  readonly claim: string;
  /** The source in a browser login. For a bearer token, the claim is always read from that token. */
  readonly from: ClaimSource;
}

/** The configured identity provider. */
export interface OpenIdSettings {
  /** Compared as an exact string (OpenID Connect Discovery 1.0, section 4.3). */
  readonly issuer: string;
  /** Null if only bearer tokens are accepted. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly audience: string | null;
  readonly scope: string;
  /** A path on this gateway or a complete URL. */
  readonly callbackUrl: string;
  readonly roleClaim: string;
  readonly groupsClaim: string | null;
  /** Null: all users belong to the tenant `default`. */
  readonly tenantClaim: string | null;
  readonly adminRole: ClaimRule | null;
  readonly requiredRole: ClaimRule | null;
  /** Null: every tenant of the issuer. An empty list allows none. */
  readonly allowedTenants: readonly string[] | null;
  readonly allowedClients: readonly string[] | null;
  /** Whether opaque bearer tokens are sent to the provider for introspection (RFC 7662). */
  readonly introspection: boolean;
}

const METADATA_LIFETIME_MS = 60 * 60 * 1000;
/** The endpoints that the gateway requests, or to which it redirects a browser. */
const ENDPOINTS = [
  'authorization_endpoint',
  'token_endpoint',
  'userinfo_endpoint',
  'jwks_uri',
  'introspection_endpoint',
] as const;

/** The metadata of the issuer (OpenID Connect Discovery 1.0). */
export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwksUri: string;
  /** As the provider sent it. Every entry of `ENDPOINTS` has passed the URL check. */
  readonly document: JsonDocument;
}

export interface ProviderMetadataSource {
  /** At most one hour old. Rejects with OPENID_UNAVAILABLE. */
  current(): Promise<ProviderMetadata>;
  /** Fetches the metadata again, after an endpoint turned out to be wrong. */
  refresh(): Promise<ProviderMetadata>;
  /** The origins of the issuer and, after the first fetch, of its endpoints. */
  origins(): readonly string[];
}

interface ProviderMetadataParts {
  readonly settings: Pick<OpenIdSettings, 'issuer'>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
}

export function createProviderMetadata(parts: ProviderMetadataParts): ProviderMetadataSource {
  const { settings, fetch, clock, log } = parts;
  const { issuer } = settings;
  if (!isSafe(issuer, issuer)) {
    throw new RangeError('The issuer must be an https URL; http is accepted only for loopback addresses');
  }
  const flights = createSingleFlight<ProviderMetadata>();
  let cached: { readonly metadata: ProviderMetadata; readonly until: number } | null = null;

  async function read(): Promise<ProviderMetadata> {
    try {
      const startedAt = clock.now();
      const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
      const metadata = validateMetadata(await fetchJsonDocument({ fetch, clock }, url), issuer);
      cached = { metadata, until: startedAt + METADATA_LIFETIME_MS };
      return metadata;
    } catch (error) {
      log('openid_discovery_failed', { reason: error instanceof Error ? error.message : 'unknown' });
      throw new GatewayError('OPENID_UNAVAILABLE', { cause: error });
    }
  }

  const readOnce = () => flights.run([], read, { detached: true });

  return {
    async current() {
      return cached && clock.now() < cached.until ? cached.metadata : readOnce();
    },
    refresh: readOnce,
    origins() {
      const urls = [issuer, ...ENDPOINTS.map((name) => cached?.metadata.document[name])];
      return [...new Set(urls.flatMap((url) => (typeof url === 'string' ? new URL(url).origin : [])))];
    },
  };
}

/** Refuses the document of another issuer: its keys would be trusted for this one (mix-up attack, RFC 8414 section 3.3). */
function validateMetadata(document: JsonDocument, issuer: string): ProviderMetadata {
  if (document.issuer !== issuer) {
    const claimedIssuer = typeof document.issuer === 'string' ? document.issuer.slice(0, 200) : 'none';
    throw new Error(`the document names another issuer: ${claimedIssuer}`);
  }
  for (const name of ENDPOINTS) {
    const url = document[name];
    if (url !== undefined && !(typeof url === 'string' && isSafe(url, issuer))) {
      throw new Error(`${name} is not an https URL`);
    }
  }
  const { jwks_uri: jwksUri } = document;
  if (typeof jwksUri !== 'string') throw new Error('jwks_uri is missing');
  return { issuer, jwksUri, document };
}

/**
 * HTTPS, or HTTP on a loopback address for an issuer with HTTP. A downgraded endpoint would expose the client secret to the
 * network.
 */
function isSafe(url: string, issuer: string): boolean {
  const { protocol, hostname } = parseUrl(url) ?? {};
  if (hostname === undefined) return false;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && isLoopbackHost(hostname) && issuer.startsWith('http:');
}

/**
 * How the gateway authenticates at the provider's token endpoint. The default is the header (OpenID Connect Discovery 1.0,
 * section 3). The body is preferred if both are supported, because some providers do not decode the header as RFC 6749,
 * section 2.3.1 encodes it.
 */
export function selectClientAuthMethod(document: JsonDocument): 'client_secret_post' | 'client_secret_basic' {
  const { token_endpoint_auth_methods_supported: supported } = document;
  return Array.isArray(supported) && supported.includes('client_secret_post')
    ? 'client_secret_post'
    : 'client_secret_basic';
}

/** A revoked key is accepted for at most this time, also while the provider does not answer. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** Keys of this age are fetched again in the background, so that a short outage of the provider has no effect. */
const REFRESH_AFTER_MS = 5 * 60 * 1000;
/** The minimum time between two fetches. Any caller can send a token with an unknown key id. */
const COOLDOWN_MS = 5_000;
/** The minimum time between two fetches while no keys are known. */
const RETRY_MS = 1_000;

/** The object keeps its identity while the published keys stay the same. */
export interface KeySet {
  readonly find: LocalJWKSet;
}

/** The signing keys of an issuer. */
export interface SigningKeySource {
  /** At most ten minutes old. Otherwise rejects with OPENID_UNAVAILABLE. */
  current(): Promise<KeySet>;
  /** For a token with a key id that `seen` does not contain. Resolves to `seen` if the provider has no newer keys. */
  newerThan(seen: KeySet): Promise<KeySet>;
  /** Increases when the keys change. */
  generation(): number;
}

interface SigningKeySourceParts {
  readonly metadata: Pick<ProviderMetadataSource, 'current'>;
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly log: Log;
}

interface FetchedKeys {
  readonly set: KeySet;
  readonly fingerprint: string;
  readonly fetchedAt: number;
}

export function createSigningKeySource(parts: SigningKeySourceParts): SigningKeySource {
  const { metadata, fetch, clock, log } = parts;
  const flights = createSingleFlight<KeySet>();
  let fetched: FetchedKeys | null = null;
  let generation = 0;
  let attemptedAt = -Infinity;
  let hasFailed = false;

  async function read(): Promise<KeySet> {
    const fetchedAt = clock.now();
    attemptedAt = fetchedAt;
    try {
      const { jwksUri } = await metadata.current();
      const document = (await fetchJsonDocument({ fetch, clock }, jwksUri)) as unknown as JSONWebKeySet;
      const find = createLocalJWKSet(document);
      const fingerprint = fingerprintOf(document);
      const isSame = fetched?.fingerprint === fingerprint;
      if (!isSame) generation += 1;
      fetched = { set: isSame && fetched ? fetched.set : { find }, fingerprint, fetchedAt };
      hasFailed = false;
      return fetched.set;
    } catch (error) {
      hasFailed = true;
      log('openid_jwks_failed', { reason: error instanceof Error ? error.message : 'unknown' });
      throw new GatewayError('OPENID_UNAVAILABLE');
    }
  }

  const refresh = () => flights.run([], read, { detached: true });
  /** Whether the last attempt is less than `ms` ago. A caller may always join a fetch in flight. */
  const isTooSoon = (ms: number) => flights.size === 0 && clock.now() - attemptedAt < ms;

  return {
    async current() {
      const age = fetched ? clock.now() - fetched.fetchedAt : Infinity;
      if (fetched && age < MAX_AGE_MS) {
        if (age >= REFRESH_AFTER_MS && !isTooSoon(COOLDOWN_MS)) refresh().catch(() => undefined);
        return fetched.set;
      }
      if (isTooSoon(RETRY_MS)) throw new GatewayError('OPENID_UNAVAILABLE');
      return refresh();
    },
    async newerThan(seen) {
      if (fetched && fetched.set !== seen) return fetched.set;
      if (!isTooSoon(COOLDOWN_MS)) return refresh();
      if (hasFailed) throw new GatewayError('OPENID_UNAVAILABLE');
      return seen;
    },
    generation: () => generation,
  };
}

/** Independent of the order of the keys. */
function fingerprintOf({ keys }: JSONWebKeySet): string {
  return JSON.stringify(keys.map((key) => JSON.stringify(key)).sort());
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;

type JsonDocument = Readonly<Record<string, unknown>>;

/** Fetches a JSON object of the provider. A redirect is an error, because the issuer authenticates only this URL. */
async function fetchJsonDocument(
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
  url: string,
): Promise<JsonDocument> {
  const abort = new AbortController();
  const cancel = clock.timer(TIMEOUT_MS, () => abort.abort(new Error('timed out')), { keepAlive: true });
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: abort.signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new Error(`status ${response.status}`);
    }
    const text = await readBoundedText(response, MAX_BYTES);
    if (text === undefined) throw new Error('no body, or too large');
    const document: unknown = JSON.parse(text);
    if (!isObject(document)) throw new Error('not a JSON object');
    return document;
  } finally {
    cancel();
  }
}
