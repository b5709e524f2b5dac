import { createHash, randomBytes } from 'node:crypto';
import type { createBrowser } from './browser.ts';

/** Somebody's browser at the gateway: local, or one that knows a provider too. */
export type FacadeBrowser = Pick<ReturnType<typeof createBrowser>, 'get' | 'form' | 'cookies'>;

export interface Metadata {
  issuer: string;
  authorization_endpoint: string;
  token_endpoint: string;
  registration_endpoint: string;
  revocation_endpoint: string;
  jwks_uri: string;
  [name: string]: unknown;
}

export const REDIRECT = 'https://client.example/callback';

const base64url = (bytes: Buffer) => bytes.toString('base64url');

/** A client of the authorization server, as a program would be. */
export async function facadeOf(url: string) {
  const wellKnown = await fetch(`${url}/.well-known/oauth-authorization-server/as`);
  const metadata = (await wellKnown.json()) as Metadata;
  const base = new URL(metadata.issuer).origin;
  /** Everything is reached where the gateway listens, whatever it calls itself. */
  const at = (address: string) => {
    const { pathname, search } = new URL(address);
    return `${url}${pathname}${search}`;
  };

  async function register(over: Record<string, unknown> = {}): Promise<string> {
    const response = await fetch(at(metadata.registration_endpoint), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Notes', redirect_uris: [REDIRECT], ...over }),
    });
    const body = (await response.json()) as { client_id?: string };
    if (body.client_id === undefined) throw new Error(JSON.stringify(body));
    return body.client_id;
  }

  /** An authorization request: its path, and the proof that belongs to it. */
  function request(clientId: string, over: Record<string, string | undefined> = {}) {
    const verifier = base64url(randomBytes(32));
    const params = {
      client_id: clientId,
      redirect_uri: REDIRECT,
      response_type: 'code',
      state: 'the state',
      code_challenge: base64url(createHash('sha256').update(verifier).digest()),
      code_challenge_method: 'S256',
      resource: `${base}/mcp`,
      ...over,
    };
    const given = Object.entries(params).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { path: `/as/auth?${new URLSearchParams(given).toString()}`, verifier };
  }

  const form = (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(at(address), { method: 'POST', body: new URLSearchParams(fields), headers });

  return {
    base,
    metadata,
    at,
    register,
    request,
    form,
    token: (fields: Record<string, string>, headers?: Record<string, string>) =>
      form(metadata.token_endpoint, fields, headers),
    redeem: (clientId: string, code: string, verifier: string, over: Record<string, string> = {}) =>
      form(metadata.token_endpoint, {
        ...{ grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier },
        ...{ redirect_uri: REDIRECT, ...over },
      }),
    refresh: (clientId: string, refreshToken: string, over: Record<string, string> = {}) =>
      form(metadata.token_endpoint, {
        ...{ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken, ...over },
      }),
  };
}
export type FacadeClientRig = Awaited<ReturnType<typeof facadeOf>>;

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  token_type: string;
}

/** How a gateway calls itself that has a name: it is reached where it listens all the same. */
export const PUBLIC_URL = 'https://gateway.example';

const isOurs = ({ origin, hostname, port }: URL, url: string) =>
  origin === PUBLIC_URL || (['localhost', '127.0.0.1'].includes(hostname) && port === new URL(url).port);

const pathOf = (location: string | null, url: string) => {
  const { pathname, search } = new URL(location ?? '', url);
  return pathname + search;
};

/** As far as the page of the interaction; whatever comes before it is followed. */
export async function visit(browser: FacadeBrowser, path: string, url: string): Promise<Response> {
  let response = await browser.get(path);
  for (let step = 0; step < 5 && response.status >= 300 && response.status < 400; step += 1) {
    const location = response.headers.get('location') ?? '';
    const next = new URL(location, url);
    if (!isOurs(next, url)) break;
    response = await browser.get(pathOf(location, url));
  }
  return response;
}

/** What the consent page would send. */
export function answerOf(page: string): { action: string; token: string } {
  return {
    action: /action="([^"]+)"/.exec(page)?.[1] ?? '',
    token: /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '',
  };
}

/** Follows what a decision leads to until the browser would leave for another host: there. */
export async function leave(browser: FacadeBrowser, response: Response, url: string): Promise<URL> {
  let next = new URL(response.headers.get('location') ?? '', url);
  for (let step = 0; step < 5; step += 1) {
    if (!isOurs(next, url)) return next;
    const answer = await browser.get(next.pathname + next.search);
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`It ended with ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
  }
  throw new Error('It redirects without end');
}

/** From the request of a client to the code, by somebody who agrees. */
export async function agree(browser: FacadeBrowser, path: string, url: string): Promise<URL> {
  const page = await visit(browser, path, url);
  const gone = page.headers.get('location');
  // They agreed before.
  if (gone !== null) return new URL(gone);
  const { action, token } = answerOf(await page.text());
  return leave(browser, await browser.form(action, { token, decision: 'allow' }), url);
}

/** A client with tokens, by somebody who agrees. */
export async function connect(
  facade: FacadeClientRig,
  browser: FacadeBrowser,
  url: string,
  clientId: string,
): Promise<Tokens> {
  const { path, verifier } = facade.request(clientId);
  const back = await agree(browser, path, url);
  const response = await facade.redeem(clientId, back.searchParams.get('code') ?? '', verifier);
  const body = (await response.json()) as Tokens;
  if (response.status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
