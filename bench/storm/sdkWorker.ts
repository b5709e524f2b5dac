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
  /** Where all processes have the tokens of the user. */
  readonly file: string;
  readonly calls: number;
  readonly spreadMs: number;
}

export interface SdkResult {
  readonly failedCalls: number;
}

// One line for every token that it loses.
console.warn = () => undefined;

/** The SDK's own way, in a process of its own: the stored token, and `auth()` when the server refuses it. */
serveJobs(async (job: SdkJob): Promise<SdkResult> => {
  const provider = createProvider(job);
  const calls = Array.from({ length: job.calls }, async () => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * job.spreadMs));
    return callOnce(job, provider).catch(() => false);
  });
  const outcomes = await Promise.all(calls);
  return { failedCalls: outcomes.filter((succeeded) => !succeeded).length };
});

/** What the transport of the SDK does with a 401: once. */
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

/** As the documentation of the SDK has it, on storage that the processes share. */
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
    // Nobody is there to sign in again.
    redirectToAuthorization: () => undefined,
    saveCodeVerifier: () => undefined,
    codeVerifier: () => '',
    discoveryState: () => discoveryState,
    saveDiscoveryState: (state) => void (discoveryState = state),
  };
}
