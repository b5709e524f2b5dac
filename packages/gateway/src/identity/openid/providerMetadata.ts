import { isLoopbackHost, parseUrl } from '@behalf/contracts';
import { createSingleFlight, type Clock, type Fetch } from '@behalf/kernel';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { Log } from '../../upstream/parts.ts';
import { fetchJsonDocument, type JsonDocument } from './fetchDocument.ts';
import type { OpenIdSettings } from './openIdSettings.ts';

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

export interface ProviderMetadataParts {
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
