import { isLoopbackHost, parseUrl } from '@behalf/contracts';
import { type Clock, type Fetch, createSingleFlight, readBoundedText } from '@behalf/kernel';
import { type JSONWebKeySet, type LocalJWKSet, createLocalJWKSet } from 'jose';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/upstream.ts';

/** Where a claim is read: in the access token, in the ID token of a login, or in what the provider tells about a user. */
export type ClaimSource = 'access' | 'id' | 'userinfo';

/** Values that decide something when one of them stands in a claim. */
export interface ClaimRule {
  readonly values: readonly string[];
  readonly claim: string;
  /** At a browser's login. A bearer token is all there is of its caller: there it is always read in that. */
  readonly from: ClaimSource;
}

/** The one identity provider people and programs come from. */
export interface OpenIdSettings {
  /** Compared letter by letter, as OpenID Connect asks. */
  readonly issuer: string;
  /** Null where only bearer tokens are accepted. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly audience: string | null;
  readonly scope: string;
  /** The redirect of a login: a path of ours, or a whole URL. */
  readonly callbackUrl: string;
  readonly roleClaim: string;
  readonly groupsClaim: string | null;
  /** Null: everybody is of the one tenant `default`. */
  readonly tenantClaim: string | null;
  readonly adminRole: ClaimRule | null;
  readonly requiredRole: ClaimRule | null;
  /** Null: whatever the issuer vouches for. An empty list allows nobody. */
  readonly allowedTenants: readonly string[] | null;
  readonly allowedClients: readonly string[] | null;
  /** Whether the provider is asked about bearer tokens that are no JWT (RFC 7662). */
  readonly introspection: boolean;
}

const LIFETIME_MS = 60 * 60 * 1000;
/** The addresses in the document that we go to, or send a browser to. */
const ENDPOINTS = [
  ...(['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'] as const),
  'introspection_endpoint' as const,
];

/** What the issuer says of itself (OpenID Connect Discovery 1.0). */
export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwksUri: string;
  /** As the provider wrote it; every endpoint we use in it is checked. */
  readonly document: JsonDocument;
}

export interface ProviderMetadataSource {
  /** Rejects with OPENID_UNAVAILABLE. */
  current(): Promise<ProviderMetadata>;
  /** The same, as the issuer says it now: something in what is known is not right any more. */
  refresh(): Promise<ProviderMetadata>;
  /** The origins we talk to: the issuer's, and since it answered those of its endpoints. */
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
      cached = { metadata, until: startedAt + LIFETIME_MS };
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

/** A document of another issuer would make its keys ours (mix-up, RFC 8414 section 3.3). */
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

/** An issuer over https names no endpoint without it: a downgrade would show our client secret to the network. */
function isSafe(url: string, issuer: string): boolean {
  const { protocol, hostname } = parseUrl(url) ?? {};
  if (hostname === undefined) return false;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && isLoopbackHost(hostname) && issuer.startsWith('http:');
}

/** A key that was taken back is good for nobody after this time, whether the provider answers or not. */
const MAX_AGE_MS = 10 * 60 * 1000;
/** From here on they are fetched again beside the calls, so that a short outage of the provider stays unseen. */
const REFRESH_AFTER_MS = 5 * 60 * 1000;
/** Anybody can name a key that nobody has: the provider is not asked for more than this lets through. */
const COOLDOWN_MS = 5_000;
/** While there are no keys at all. */
const RETRY_MS = 1_000;

/** The same object for as long as the provider publishes the same keys. */
export interface KeySet {
  readonly find: LocalJWKSet;
}

/** The keys with which the issuer signs. */
export interface SigningKeySource {
  /** At most ten minutes old. Rejects with OPENID_UNAVAILABLE when there are none so young. */
  current(): Promise<KeySet>;
  /** After a token named a key that `seen` does not have. `seen` itself when the provider has no other now. */
  newerThan(seen: KeySet): Promise<KeySet>;
  /** Moves when the keys change. */
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

export function createSigningKeySource({
  metadata,
  fetch,
  clock,
  log,
}: SigningKeySourceParts): SigningKeySource {
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
      throw unavailable();
    }
  }

  const refresh = () => flights.run([], read, { detached: true });
  /** Whether a fetch now would be one too many; joining one under way never is. */
  const isTooSoon = (ms: number) => flights.size === 0 && clock.now() - attemptedAt < ms;

  return {
    async current() {
      const age = fetched ? clock.now() - fetched.fetchedAt : Infinity;
      if (fetched && age < MAX_AGE_MS) {
        if (age >= REFRESH_AFTER_MS && !isTooSoon(COOLDOWN_MS)) refresh().catch(() => undefined);
        return fetched.set;
      }
      if (isTooSoon(RETRY_MS)) throw unavailable();
      return refresh();
    },
    async newerThan(seen) {
      if (fetched && fetched.set !== seen) return fetched.set;
      if (!isTooSoon(COOLDOWN_MS)) return refresh();
      if (hasFailed) throw unavailable();
      return seen;
    },
    generation: () => generation,
  };
}

function unavailable(): GatewayError {
  return new GatewayError('OPENID_UNAVAILABLE');
}

/** The order of the keys says nothing. */
function fingerprintOf({ keys }: JSONWebKeySet): string {
  return JSON.stringify(keys.map((key) => JSON.stringify(key)).sort());
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;

export type JsonDocument = Readonly<Record<string, unknown>>;

/** A JSON object that the provider publishes. A redirect is an error: the place is what the issuer vouches for. */
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
    if (typeof document !== 'object' || document === null || Array.isArray(document)) {
      throw new Error('not a JSON object');
    }
    return document as JsonDocument;
  } finally {
    cancel();
  }
}
