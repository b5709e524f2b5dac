import type { OAuthClientProvider, OAuthTokens } from '@modelcontextprotocol/client';
import { createScriptedBrowser } from '@behalf/devidp';

/** Where an MCP client would listen for the answer. Nobody does: the browser of the test stops there. */
export const CLIENT_CALLBACK = 'http://127.0.0.1:9/callback';

type DiscoveryState = Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
type ClientRegistration = Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;

export interface OAuthUser extends OAuthClientProvider {
  /** What the client was given. */
  readonly issuedTokens: () => OAuthTokens | undefined;
  /** Signs in where the client sent its user; the parameters that the provider sends back. */
  readonly giveConsent: () => Promise<URLSearchParams>;
  /** How often somebody had to sign in. */
  readonly authorizationCount: () => number;
}

/** Somebody with an MCP client that signs in by itself: its store, and the user's browser. */
export function createOAuthUser(user: string, client?: ClientRegistration): OAuthUser {
  let registration = client;
  let tokens: OAuthTokens | undefined;
  let verifier = '';
  let discoveryState: DiscoveryState;
  const authorizationUrls: URL[] = [];
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
    clientInformation: () => registration,
    saveClientInformation: (value) => void (registration = value),
    tokens: () => tokens,
    saveTokens: (value) => void (tokens = value),
    redirectToAuthorization: (url) => void authorizationUrls.push(url),
    saveCodeVerifier: (value) => void (verifier = value),
    codeVerifier: () => verifier,
    saveDiscoveryState: (value) => void (discoveryState = value),
    discoveryState: () => discoveryState,
    issuedTokens: () => tokens,
    giveConsent: async () => (await browser.signIn(authorizationUrls.at(-1) ?? '', user)).searchParams,
    authorizationCount: () => authorizationUrls.length,
  };
}
