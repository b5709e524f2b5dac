import { createHash, randomBytes } from 'node:crypto';
import type { createBrowser } from './browser.ts';

/** Somebody's browser at the gateway: local, or one that knows a provider too. */
export type AuthorizationBrowser = Pick<ReturnType<typeof createBrowser>, 'get' | 'form' | 'cookies'>;

export interface AuthorizationServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string;
  revocation_endpoint: string;
  jwks_uri: string;
  [name: string]: unknown;
}

export const CLIENT_REDIRECT_URI = 'https://client.example/callback';

const base64url = (bytes: Buffer) => bytes.toString('base64url');

/** A client of the authorization server, as a program would be. */
export async function createAuthorizationClient(url: string) {
  const wellKnown = await fetch(`${url}/.well-known/oauth-authorization-server/as`);
  const metadata = (await wellKnown.json()) as AuthorizationServerMetadata;
  const base = new URL(metadata.issuer).origin;
  /** Everything is reached where the gateway listens, whatever it calls itself. */
  const resolveUrl = (address: string) => {
    const { pathname, search } = new URL(address);
    return `${url}${pathname}${search}`;
  };

  async function register(overrides: Record<string, unknown> = {}): Promise<string> {
    const response = await fetch(resolveUrl(metadata.registration_endpoint), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Notes', redirect_uris: [CLIENT_REDIRECT_URI], ...overrides }),
    });
    const body = (await response.json()) as { client_id?: string };
    if (body.client_id === undefined) throw new Error(JSON.stringify(body));
    return body.client_id;
  }

  /** An authorization request: its path, and the proof that belongs to it. */
  function createAuthorizationRequest(clientId: string, overrides: Record<string, string | undefined> = {}) {
    const verifier = base64url(randomBytes(32));
    const params = {
      client_id: clientId,
      redirect_uri: CLIENT_REDIRECT_URI,
      response_type: 'code',
      state: 'the state',
      code_challenge: base64url(createHash('sha256').update(verifier).digest()),
      code_challenge_method: 'S256',
      resource: `${base}/mcp`,
      ...overrides,
    };
    const definedParams = Object.entries(params).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    return { path: `/as/auth?${new URLSearchParams(definedParams).toString()}`, verifier };
  }

  const postForm = (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(resolveUrl(address), { method: 'POST', body: new URLSearchParams(fields), headers });

  return {
    base,
    metadata,
    resolveUrl,
    register,
    createAuthorizationRequest,
    postForm,
    requestToken: (fields: Record<string, string>, headers?: Record<string, string>) =>
      postForm(metadata.token_endpoint, fields, headers),
    redeemCode: (clientId: string, code: string, verifier: string, overrides: Record<string, string> = {}) =>
      postForm(metadata.token_endpoint, {
        ...{ grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier },
        ...{ redirect_uri: CLIENT_REDIRECT_URI, ...overrides },
      }),
    refreshTokens: (clientId: string, refreshToken: string, overrides: Record<string, string> = {}) =>
      postForm(metadata.token_endpoint, {
        ...{ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, ...overrides },
      }),
  };
}
export type AuthorizationClientRig = Awaited<ReturnType<typeof createAuthorizationClient>>;

export interface TokenResponse {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  token_type: string;
}

/** How a gateway calls itself that has a name: it is reached where it listens all the same. */
export const PUBLIC_URL = 'https://gateway.example';

const isGatewayUrl = ({ origin, hostname, port }: URL, url: string) =>
  origin === PUBLIC_URL || (['localhost', '127.0.0.1'].includes(hostname) && port === new URL(url).port);

const toPath = (location: string | null, url: string) => {
  const { pathname, search } = new URL(location ?? '', url);
  return pathname + search;
};

/** As far as the page of the interaction; whatever comes before it is followed. */
export async function openAuthorization(
  browser: AuthorizationBrowser,
  path: string,
  url: string,
): Promise<Response> {
  let response = await browser.get(path);
  for (let step = 0; step < 5 && response.status >= 300 && response.status < 400; step += 1) {
    const location = response.headers.get('location') ?? '';
    const target = new URL(location, url);
    if (!isGatewayUrl(target, url)) break;
    response = await browser.get(toPath(location, url));
  }
  return response;
}

/** What the consent page would send. */
export function readConsentForm(page: string): { action: string; token: string } {
  return {
    action: /action="([^"]+)"/.exec(page)?.[1] ?? '',
    token: /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '',
  };
}

/** Follows what a decision leads to until the browser would leave for another host: there. */
export async function followToClient(
  browser: AuthorizationBrowser,
  response: Response,
  url: string,
): Promise<URL> {
  let target = new URL(response.headers.get('location') ?? '', url);
  for (let step = 0; step < 5; step += 1) {
    if (!isGatewayUrl(target, url)) return target;
    const response = await browser.get(target.pathname + target.search);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`It ended with ${response.status}: ${await response.text()}`);
    target = new URL(location, target);
  }
  throw new Error('It redirects without end');
}

/** From the request of a client to the code, by somebody who agrees. */
export async function giveConsent(browser: AuthorizationBrowser, path: string, url: string): Promise<URL> {
  const page = await openAuthorization(browser, path, url);
  const redirectLocation = page.headers.get('location');
  // They agreed before.
  if (redirectLocation !== null) return new URL(redirectLocation);
  const { action, token } = readConsentForm(await page.text());
  return followToClient(browser, await browser.form(action, { token, decision: 'allow' }), url);
}

/** A client with tokens, by somebody who agrees. */
export async function connectClient(
  authorizationClient: AuthorizationClientRig,
  browser: AuthorizationBrowser,
  url: string,
  clientId: string,
): Promise<TokenResponse> {
  const { path, verifier } = authorizationClient.createAuthorizationRequest(clientId);
  const callback = await giveConsent(browser, path, url);
  const response = await authorizationClient.redeemCode(
    clientId,
    callback.searchParams.get('code') ?? '',
    verifier,
  );
  const body = (await response.json()) as TokenResponse;
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
