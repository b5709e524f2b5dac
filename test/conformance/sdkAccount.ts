import {
  DpopSession,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { ScenarioContext } from './definition.ts';

const REDIRECT = 'http://localhost:8976/callback';
/** Where the suite expects a client's metadata document to stand. Nobody fetches it. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/** To give up is left to its user as well; the suite allows three. */
const MOST_SIGN_INS = 3;

/** What the SDK leaves to whoever uses it: what it was given, by issuer, and a browser that goes where it is sent. */
export interface SdkAccount {
  readonly provider: OAuthClientProvider;
  /** With what the browser came back, once. */
  cameBack(): URLSearchParams | undefined;
}

export function createSdkAccount(context: ScenarioContext, bound: boolean): SdkAccount {
  const { client_id, client_secret, issuer } = context;
  const clients = new Map<string, StoredOAuthClientInformation>();
  const kept = new Map<string, StoredOAuthTokens>();
  let last: StoredOAuthTokens | undefined;
  let back: URLSearchParams | undefined;
  let verifier = '';
  let signIns = 0;
  let discovered: OAuthDiscoveryState | undefined;
  const dpop = bound ? DpopSession.create() : undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: REDIRECT,
    clientMetadataUrl: DOCUMENT,
    clientMetadata: { client_name: 'sdk', redirect_uris: [REDIRECT], application_type: 'native' },
    clientInformation(about) {
      if (client_id === undefined) return about && clients.get(about.issuer);
      return { client_id, ...(client_secret && { client_secret }), ...(issuer && { issuer }) };
    },
    saveClientInformation: (client, about) => void (about && clients.set(about.issuer, client)),
    tokens: (about) => (about ? kept.get(about.issuer) : last),
    saveTokens(tokens, about) {
      last = tokens;
      // It is about one sign-in: the next one may be at another server.
      discovered = undefined;
      if (about) kept.set(about.issuer, tokens);
    },
    async redirectToAuthorization(url) {
      signIns += 1;
      if (signIns > MOST_SIGN_INS) throw new Error('Asked to sign in again and again');
      const sent = await fetch(url, { redirect: 'manual' });
      back = new URL(sent.headers.get('location') ?? '', url).searchParams;
    },
    saveCodeVerifier: (value) => void (verifier = value),
    codeVerifier: () => verifier,
    saveDiscoveryState: (state) => void (discovered = state),
    discoveryState: () => discovered,
    ...(dpop && { dpop: () => dpop }),
  };
  return {
    provider,
    cameBack() {
      const once = back;
      back = undefined;
      return once;
    },
  };
}
