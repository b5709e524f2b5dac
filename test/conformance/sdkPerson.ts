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
import { issuerOf, type Scenario } from './definition.ts';
import { createSdkAccount, type SdkAccount } from './sdkAccount.ts';

const MODERN = '2026-07-28';

/**
 * The same as `createPerson`, with the SDK's own client in the place of the gateway and nothing but what it offers publicly: its
 * providers for the extensions, its defaults for forms, its rounds. It is told which era the server speaks; the gateway finds out.
 */
export async function useWithSdk({ name, url, context, revision }: Scenario): Promise<void> {
  const account = createSdkAccount(context, name.startsWith('auth/dpop'));
  const authProvider = await providerOf({ name, url, context, revision }, account);
  let transport = connection();

  function connection(): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(url), {
      ...(name.startsWith('auth/') && { authProvider }),
    });
  }

  function newClient(): Client {
    const client = new Client(
      { name: 'sdk', version: '2.4.0' },
      {
        capabilities: { elicitation: { form: { applyDefaults: true } } },
        versionNegotiation: { mode: revision === MODERN ? 'auto' : 'legacy' },
      },
    );
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    return client;
  }

  /** Once more after each sign-in that it takes. */
  async function signedIn<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        const back = error instanceof UnauthorizedError ? account.cameBack() : undefined;
        if (!back) throw error;
        await transport.finishAuth(back);
      }
    }
  }

  const client = await signedIn(async () => {
    transport = connection();
    const opened = newClient();
    await opened.connect(transport);
    return opened;
  });
  try {
    const { tools } = await signedIn(() => client.listTools());
    const calls =
      context.toolCalls ??
      tools.map((tool) => ({ name: tool.name, arguments: sampleArguments(tool.inputSchema) }));
    for (const call of calls) await signedIn(() => client.callTool(call));
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

async function providerOf(
  { name, url, context }: Scenario,
  account: SdkAccount,
): Promise<OAuthClientProvider> {
  const { client_id: clientId = '', client_secret: clientSecret = '', issuer, private_key_pem } = context;
  const { idp_token_endpoint: tokenEndpoint, idp_id_token: idToken, idp_client_id: idpClient } = context;
  const isOwn = name.startsWith('auth/client-credentials-');
  if (!isOwn && tokenEndpoint === undefined) return account.provider;
  const registered = { clientId, expectedIssuer: issuer ?? (await issuerOf(url)) };
  if (tokenEndpoint !== undefined && idToken !== undefined && idpClient !== undefined) {
    return new CrossAppAccessProvider({
      ...{ ...registered, clientSecret },
      async assertion({ authorizationServerUrl: audience, resourceUrl: resource, scope, fetchFn }) {
        const asked = { tokenEndpoint, audience, resource, idToken, clientId: idpClient, fetchFn };
        return (await requestJwtAuthorizationGrant({ ...asked, ...(scope !== undefined && { scope }) }))
          .jwtAuthGrant;
      },
    });
  }
  if (private_key_pem === undefined) return new ClientCredentialsProvider({ ...registered, clientSecret });
  const { signing_algorithm: algorithm = 'ES256' } = context;
  return new PrivateKeyJwtProvider({ ...registered, privateKey: private_key_pem, algorithm });
}
