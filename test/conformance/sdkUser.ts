import {
  Client,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { sampleArguments } from './arguments.ts';
import { findIssuer, type ConformanceScenario } from './definition.ts';
import { createSdkAccount, type SdkAccount } from './sdkAccount.ts';

const MODERN_VERSION = '2026-07-28';

/**
 * The same as `createConformanceUser`, with the SDK's own client in the place of the gateway and nothing but what it offers publicly: its
 * providers for the extensions, its defaults for forms, its rounds. It is told which era the server speaks; the gateway finds out.
 */
export async function useServerWithSdk({ name, url, context, revision }: ConformanceScenario): Promise<void> {
  const account = createSdkAccount(context, name.startsWith('auth/dpop'));
  const authProvider = await createProvider({ name, url, context, revision }, account);
  let transport = createTransport();

  function createTransport(): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(url), {
      ...(name.startsWith('auth/') && { authProvider }),
    });
  }

  function newClient(): Client {
    const client = new Client(
      { name: 'sdk', version: '2.4.0' },
      {
        capabilities: { elicitation: { form: { applyDefaults: true } } },
        versionNegotiation: { mode: revision === MODERN_VERSION ? 'auto' : 'legacy' },
      },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    return client;
  }

  /** Once more after each sign-in that it takes. */
  async function withSignIn<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const callbackParams = error instanceof UnauthorizedError ? account.takeCallbackParams() : undefined;
        if (!callbackParams) throw error;
        await transport.finishAuth(callbackParams);
      }
    }
  }

  const client = await withSignIn(async () => {
    transport = createTransport();
    const openedClient = newClient();
    await openedClient.connect(transport);
    return openedClient;
  });
  try {
    const { tools } = await withSignIn(() => client.listTools());
    const calls =
      context.toolCalls ??
      tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool.inputSchema) }));
    for (const call of calls) await withSignIn(() => client.callTool(call));
    const { resources: hasResources, prompts: hasPrompts } = client.getServerCapabilities() ?? {};
    if (hasResources) {
      for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri });
    }
    if (hasPrompts) {
      for (const { name: prompt } of (await client.listPrompts()).prompts) {
        await client.getPrompt({ name: prompt, arguments: {} });
      }
    }
  } finally {
    await client.close();
  }
}

async function createProvider(
  { name, url, context }: ConformanceScenario,
  account: SdkAccount,
): Promise<OAuthClientProvider> {
  const { client_id: clientId = '', client_secret: clientSecret = '', issuer, private_key_pem } = context;
  const { idp_token_endpoint: tokenEndpoint, idp_id_token: idToken, idp_client_id: idpClient } = context;
  const isClientCredentials = name.startsWith('auth/client-credentials-');
  if (!isClientCredentials && tokenEndpoint === undefined) return account.provider;
  const registration = { clientId, expectedIssuer: issuer ?? (await findIssuer(url)) };
  if (tokenEndpoint !== undefined && idToken !== undefined && idpClient !== undefined) {
    return new CrossAppAccessProvider({
      ...{ ...registration, clientSecret },
      async assertion({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) {
        const exchangeRequest = { tokenEndpoint, audience, resource, idToken, clientId: idpClient, fetchFn };
        return (
          await requestJwtAuthorizationGrant({ ...exchangeRequest, ...(scope !== undefined && { scope }) })
        ).jwtAuthGrant;
      },
    });
  }
  if (private_key_pem === undefined) return new ClientCredentialsProvider({ ...registration, clientSecret });
  const { signing_algorithm: algorithm = 'ES256' } = context;
  return new PrivateKeyJwtProvider({ ...registration, privateKey: private_key_pem, algorithm });
}
