import { isLoopbackHost, parseUrl } from '@behalf/contracts';
import { type Clock, type Fetch, createSingleFlight } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeProvider.ts';
import type { EffectiveSettings } from './providerSettings.ts';
import { type ProviderResponse, parseJsonObject, sendProviderRequest } from './tokenRequest.ts';
import { toResponseFault } from './tokenResponse.ts';

const LIFETIME_MS = 60 * 60 * 1_000;

export interface ProviderTokenEndpoint {
  readonly url: string;
  /** `token_endpoint_auth_methods_supported`, where the metadata says. */
  readonly authMethods: readonly unknown[] | undefined;
}

export interface EndpointSource {
  /** What names it in the cache's key: itself, or the issuer. */
  readonly name: string;
  /** Rejects with ExchangeFault. */
  current(): Promise<ProviderTokenEndpoint>;
}

interface EndpointSourceParts {
  readonly settings: EffectiveSettings;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** The token endpoint that is configured, else the one the issuer's metadata names. */
export function createEndpointSource({ settings, fetch, clock }: EndpointSourceParts): EndpointSource {
  const { name, issuer, tokenEndpoint } = settings;
  const misconfigured = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  const invalidSource = (name: string, hint: string): EndpointSource => ({
    name,
    current: () => Promise.reject(misconfigured(hint)),
  });
  const address = tokenEndpoint ?? issuer;
  if (address === undefined) return invalidSource('', 'neither issuer nor tokenEndpoint is set');
  if (!isSafeEndpoint(address)) {
    return invalidSource(
      address,
      'issuer and tokenEndpoint must be https URLs; http is accepted only for loopback addresses',
    );
  }
  if (tokenEndpoint !== undefined) {
    const endpoint: ProviderTokenEndpoint = { url: tokenEndpoint, authMethods: undefined };
    return { name: tokenEndpoint, current: () => Promise.resolve(endpoint) };
  }
  const flights = createSingleFlight<ProviderTokenEndpoint>();
  let cached: { readonly endpoint: ProviderTokenEndpoint; readonly until: number } | null = null;

  async function discover(expectedIssuer: string): Promise<ProviderTokenEndpoint> {
    const startedAt = clock.now();
    const [first, second] = metadataUrls(expectedIssuer);
    const request = { method: 'GET', headers: {} } as const;
    let response = await sendProviderRequest({ fetch, clock }, first, request);
    if (response.status === 404) response = await sendProviderRequest({ fetch, clock }, second, request);
    const endpoint = readMetadata(response, expectedIssuer);
    cached = { endpoint, until: startedAt + LIFETIME_MS };
    return endpoint;
  }

  function readMetadata(response: ProviderResponse, expectedIssuer: string): ProviderTokenEndpoint {
    if (response.status !== 200) throw toResponseFault(response, undefined, clock, 'jwt-bearer');
    const document = parseJsonObject(response.text);
    if (!document)
      throw new ExchangeFault('OBO_TEMPORARY', { status: 200, hint: 'The metadata is not JSON.' });
    // A document of another issuer would send our client's proof to its endpoint (mix-up, RFC 8414 section 3.3).
    if (document['issuer'] !== expectedIssuer) {
      throw misconfigured(
        'the issuer in the metadata differs from the configured issuer; the two must match exactly',
      );
    }
    const { token_endpoint: url, token_endpoint_auth_methods_supported: methods } = document;
    if (typeof url !== 'string' || !isSafeEndpoint(url) || (isHttps(expectedIssuer) && !isHttps(url))) {
      throw misconfigured('the metadata of the issuer does not contain an https token endpoint');
    }
    return { url, authMethods: Array.isArray(methods) ? (methods as readonly unknown[]) : undefined };
  }

  return {
    name: address,
    async current() {
      if (cached && clock.now() < cached.until) return cached.endpoint;
      return flights.run([], () => discover(address), { detached: true });
    },
  };
}

/** OpenID Connect Discovery 1.0, section 4, then RFC 8414, section 3.1, where the first is not there. */
function metadataUrls(issuer: string): readonly [string, string] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
}

function isHttps(url: string): boolean {
  return url.startsWith('https:');
}

/** Where a client secret and a user's token may be sent: https, or this machine. */
function isSafeEndpoint(url: string): boolean {
  const parsed = parseUrl(url);
  if (!parsed) return false;
  const { protocol, hostname, username, password } = parsed;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}
