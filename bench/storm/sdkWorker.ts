import {
  auth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import { serveJobs } from '../callLoop.ts';
import { openSharedTokens } from './sharedTokens.ts';

export interface SdkJob {
  readonly url: string;
  readonly clientId: string;
  /** The file with the user's tokens for all processes. */
  readonly file: string;
  readonly calls: number;
  readonly spreadMs: number;
}

export interface SdkResult {
  readonly failedCalls: number;
}

// Suppresses the warning for each lost token.
console.warn = () => undefined;

/** The SDK in a separate process: the stored token, and `auth()` if the server refuses it. */
serveJobs(async (job: SdkJob): Promise<SdkResult> => {
  const provider = createProvider(job);
  const calls = Array.from({ length: job.calls }, async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * job.spreadMs));
    return callOnce(job, provider).catch(() => false);
  });
  const outcomes = await Promise.all(calls);
  return { failedCalls: outcomes.filter((succeeded) => !succeeded).length };
});

/** Handles a 401 once, like the SDK's transport. */
async function callOnce({ url }: SdkJob, provider: OAuthClientProvider): Promise<boolean> {
  if ((await sendCall(url, await provider.tokens())) === 200) return true;
  if ((await auth(provider, { serverUrl: url })) !== 'AUTHORIZED') return false;
  return (await sendCall(url, await provider.tokens())) === 200;
}

async function sendCall(url: string, tokens: StoredOAuthTokens | undefined): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...(tokens && { authorization: `Bearer ${tokens.access_token}` }),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }),
  });
  await response.text();
  return response.status;
}

/** The provider of the SDK's documentation, on shared storage. */
function createProvider({ file, clientId }: SdkJob): OAuthClientProvider {
  const tokens = openSharedTokens<StoredOAuthTokens>(file);
  const redirectUrl = 'http://127.0.0.1/callback';
  let discoveryState: OAuthDiscoveryState | undefined;
  return {
    redirectUrl,
    clientMetadata: { redirect_uris: [redirectUrl], grant_types: ['authorization_code', 'refresh_token'] },
    clientInformation: () => ({ client_id: clientId }),
    saveClientInformation: () => undefined,
    tokens: () => tokens.read(),
    saveTokens: (tokensToSave) => tokens.write(tokensToSave),
    invalidateCredentials: (scope) => {
      if (scope === 'tokens' || scope === 'all') tokens.remove();
    },
    // No user is present to sign in again.
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    discoveryState: () => discoveryState,
    saveDiscoveryState: (state) => void (discoveryState = state),
  };
}
