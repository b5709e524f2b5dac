import {
  DpopSession,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { ScenarioContext } from './definition.ts';

const REDIRECT_URI = 'http://localhost:8976/callback';
/** Where the suite expects a client's metadata document to stand. Nobody fetches it. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json';

/** To give up is left to its user as well; the suite allows three. */
const MAX_SIGN_INS = 3;

/** What the SDK leaves to whoever uses it: what it was given, by issuer, and a browser that goes where it is sent. */
export interface SdkAccount {
  readonly provider: OAuthClientProvider;
  /** With what the browser came back, once. */
  takeCallbackParams(): URLSearchParams | undefined;
}

export function createSdkAccount(context: ScenarioContext, isDpopBound: boolean): SdkAccount {
  const { client_id, client_secret, issuer } = context;
  const clients = new Map<string, StoredOAuthClientInformation>();
  const tokensByIssuer = new Map<string, StoredOAuthTokens>();
  let lastTokens: StoredOAuthTokens | undefined;
  let callbackParams: URLSearchParams | undefined;
  let verifier = '';
  let signIns = 0;
  let discoveryState: OAuthDiscoveryState | undefined;
  const dpop = isDpopBound ? DpopSession.create() : undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT_URI,
    clientMetadataUrl: CLIENT_METADATA_URL,
    clientMetadata: { client_name: 'sdk', redirect_uris: [REDIRECT_URI], application_type: 'native' },
    clientInformation(information) {
      if (client_id === undefined) return information && clients.get(information.issuer);
      return { client_id, ...(client_secret && { client_secret }), ...(issuer && { issuer }) };
    },
    saveClientInformation: (client, information) =>
      void (information && clients.set(information.issuer, client)),
    tokens: (information) => (information ? tokensByIssuer.get(information.issuer) : lastTokens),
    saveTokens(tokens, information) {
      lastTokens = tokens;
      // It is about one sign-in: the next one may be at another server.
      discoveryState = undefined;
      if (information) tokensByIssuer.set(information.issuer, tokens);
    },
    async redirectToAuthorization(url) {
      signIns += 1;
      if (signIns > MAX_SIGN_INS) throw new Error('Asked to sign in again and again');
      const response = await fetch(url, { redirect: 'manual' });
      callbackParams = new URL(response.headers.get('location') ?? '', url).searchParams;
    },
    saveCodeVerifier: (value) => void (verifier = value),
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => void (discoveryState = state),
    discoveryState: () => discoveryState,
    ...(dpop && { dpop: () => dpop }),
  };
  return {
    provider,
    takeCallbackParams() {
      const params = callbackParams;
      callbackParams = undefined;
      return params;
    },
  };
}
