import { createSingleFlight, type Clock, type Fetch } from '@behalf/kernel';
import { ExchangeFault } from '../exchangeFault.ts';
import { answerFault } from './answerFault.ts';
import { ask, readObject, type Answer } from './ask.ts';
import type { EffectiveSettings } from './effectiveSettings.ts';
import { isSafeEndpoint } from './safeEndpoint.ts';

const LIFETIME_MS = 60 * 60 * 1_000;

export interface TokenEndpoint {
  readonly url: string;
  /** `token_endpoint_auth_methods_supported`, where the metadata says. */
  readonly authMethods: readonly unknown[] | undefined;
}

export interface EndpointSource {
  /** What names it in the cache's key: itself, or the issuer. */
  readonly name: string;
  /** Rejects with ExchangeFault. */
  current(): Promise<TokenEndpoint>;
}

export interface EndpointParts {
  readonly settings: EffectiveSettings;
  readonly fetch: Fetch;
  readonly clock: Clock;
}

/** The token endpoint that is configured, else the one the issuer's metadata names. */
export function createEndpointSource({ settings, fetch, clock }: EndpointParts): EndpointSource {
  const { name, issuer, tokenEndpoint } = settings;
  const fault = (hint: string) =>
    new ExchangeFault('OBO_MISCONFIGURED', { hint: `identityProviders.${name}: ${hint}` });
  const refused = (name: string, hint: string): EndpointSource => ({
    name,
    current: () => Promise.reject(fault(hint)),
  });
  const place = tokenEndpoint ?? issuer;
  if (place === undefined) return refused('', 'names neither issuer nor tokenEndpoint');
  if (!isSafeEndpoint(place)) {
    return refused(place, 'issuer and tokenEndpoint are https URLs; plain http is accepted on loopback only');
  }
  if (tokenEndpoint !== undefined) {
    const endpoint: TokenEndpoint = { url: tokenEndpoint, authMethods: undefined };
    return { name: tokenEndpoint, current: () => Promise.resolve(endpoint) };
  }
  const flights = createSingleFlight<TokenEndpoint>();
  let known: { readonly endpoint: TokenEndpoint; readonly until: number } | null = null;

  async function discover(from: string): Promise<TokenEndpoint> {
    const begun = clock.now();
    const [first, second] = metadataUrls(from);
    const question = { method: 'GET', headers: {} } as const;
    let answer = await ask({ fetch, clock }, first, question);
    if (answer.status === 404) answer = await ask({ fetch, clock }, second, question);
    const endpoint = check(answer, from);
    known = { endpoint, until: begun + LIFETIME_MS };
    return endpoint;
  }

  function check(answer: Answer, from: string): TokenEndpoint {
    if (answer.status !== 200) throw answerFault(answer, undefined, clock, 'jwt-bearer');
    const document = readObject(answer.text);
    if (!document)
      throw new ExchangeFault('OBO_TEMPORARY', { status: 200, hint: 'The metadata is not JSON.' });
    // A document of another issuer would send our client's proof to its endpoint (mix-up, RFC 8414 section 3.3).
    if (document['issuer'] !== from) {
      throw fault('the issuer’s metadata names another issuer; compare letter by letter');
    }
    const { token_endpoint: url, token_endpoint_auth_methods_supported: methods } = document;
    if (typeof url !== 'string' || !isSafeEndpoint(url) || (isSecure(from) && !isSecure(url))) {
      throw fault('the issuer’s metadata names no token endpoint over https');
    }
    return { url, authMethods: Array.isArray(methods) ? (methods as readonly unknown[]) : undefined };
  }

  return {
    name: place,
    async current() {
      if (known && clock.now() < known.until) return known.endpoint;
      return flights.run([], () => discover(place), { detached: true });
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

function isSecure(url: string): boolean {
  return url.startsWith('https:');
}
