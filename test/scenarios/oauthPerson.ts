import type { OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client';
import { createScriptedBrowser } from '@behalf/devidp';

/** Where an MCP client would listen for the answer. Nobody does: the browser of the test stops there. */
export const CLIENT_CALLBACK = 'http://127.0.0.1:9/callback';

type Discovered = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
type Registered = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;

export interface OAuthPerson extends OAuthClientProvider {
  /** What the client was given. */
  readonly given: () => OAuthTokens | undefined;
  /** Signs in where the client sent its user; the parameters that the provider sends back. */
  readonly consent: () => Promise<URLSearchParams>;
  /** How often somebody had to sign in. */
  readonly asked: () => number;
}

/** Somebody with an MCP client that signs in by itself: its store, and the user's browser. */
export function createOAuthPerson(user: string, client?: Registered): OAuthPerson {
  let registered = client;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discovered: Discovered;
  const sentTo: URL[] = [];
  const browser = createScriptedBrowser();
  return {
    redirectUrl: CLIENT_CALLBACK,
    clientMetadata: {
      client_name: 'MCP client',
      redirect_uris: [CLIENT_CALLBACK],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    clientInformation: () => registered,
    saveClientInformation: (next) => void (registered = next),
    tokens: () => tokens,
    saveTokens: (next) => void (tokens = next),
    redirectToAuthorization: (url) => void sentTo.push(url),
    saveCodeVerifier: (next) => void (verifier = next),
    codeVerifier: () => verifier,
    saveDiscoveryState: (next) => void (discovered = next),
    discoveryState: () => discovered,
    given: () => tokens,
    consent: async () => (await browser.signIn(sentTo.at(-1) ?? '', user)).searchParams,
    asked: () => sentTo.length,
  };
}
