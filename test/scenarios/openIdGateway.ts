import {
  createScriptedBrowser as createProviderBrowser,
  createDevIdp,
  type DevClient,
  type DevIdp,
  type DevUser,
} from '@behalf/devidp';
import type { Clock } from '@behalf/kernel';
import { freePort } from '@behalf/testkit';
import { createBrowser } from './browser.ts';
import { startInProcess, type InProcessGateway } from './inProcess.ts';

export interface OpenIdGateway extends InProcessGateway {
  readonly idp: DevIdp;
}

export interface OpenIdGatewayOptions {
  /** Changing one changes what the next token says. */
  users: readonly DevUser[];
  /** Beside the gateway's own. */
  clients?: readonly DevClient[];
  variables?: Record<string, string>;
  yaml?: string;
  clock?: Clock;
  /** Whether MCP clients may register themselves at the provider. */
  hasRegistration?: boolean;
  /** Scopes of the gateway's API, where they are not the provider's usual one. */
  scopes?: readonly string[];
  /** Whether the provider gives access tokens that say nothing themselves. */
  usesOpaqueTokens?: boolean;
}

export const CLIENT_SECRET = 'secret-of-the-gateway';
export const GATEWAY_AUDIENCE = 'api://behalf';

/** A gateway whose users sign in at a development identity provider. Nothing lists the provider's address. */
export async function startOpenIdGateway(options: OpenIdGatewayOptions): Promise<OpenIdGateway> {
  const { users, clients = [], variables = {}, yaml, clock } = options;
  // Each has to know the other's address, and the gateway asks the provider only when somebody comes.
  const port = await freePort();
  const gateway = await startInProcess(
    {
      OPENID_ISSUER: `http://127.0.0.1:${port}`,
      OPENID_CLIENT_ID: 'behalf',
      OPENID_CLIENT_SECRET: CLIENT_SECRET,
      OPENID_AUDIENCE: GATEWAY_AUDIENCE,
      OPENID_GROUPS_CLAIM: 'groups',
      RATE_LIMIT_WRITES: '100000',
      ...variables,
    },
    yaml,
    clock,
  );
  const callbackUrl = new URL('/oauth/openid/callback', gateway.url);
  callbackUrl.hostname = 'localhost';
  const gatewayClient: DevClient = { id: 'behalf', secret: CLIENT_SECRET, redirectUris: [callbackUrl.href] };
  try {
    const idp = await createDevIdp({
      ...{
        isProduction: false,
        port,
        users,
        audience: GATEWAY_AUDIENCE,
        clients: [gatewayClient, ...clients],
      },
      isAllowedResource: (uri) => uri.startsWith(callbackUrl.origin),
      allowsRegistration: options.hasRegistration ?? false,
      ...(options.scopes && { scopes: options.scopes }),
      usesOpaqueTokens: options.usesOpaqueTokens ?? false,
      ...(clock && { clock }),
    });
    return {
      ...gateway,
      idp,
      async close() {
        await gateway.close();
        await idp.close();
      },
    };
  } catch (error) {
    await gateway.close();
    throw error;
  }
}

/** Somebody's browser, at the gateway and at the provider. */
export function createVisitor(
  gateway: Pick<OpenIdGateway, 'url'>,
  providerBrowser = createProviderBrowser(),
) {
  const gatewayBrowser = createBrowser(gateway.url);

  /** Begins a sign-in; where the provider is asked. */
  async function startLogin(returnTo?: string): Promise<URL> {
    const query = returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo }).toString()}`;
    const response = await gatewayBrowser.get(`/oauth/openid${query}`);
    return new URL(response.headers.get('location') ?? '', gateway.url);
  }
  /** As far as the provider's answer, which the browser has not followed yet. */
  const chooseUser = async (user: string, returnTo?: string) =>
    providerBrowser.signIn(await startLogin(returnTo), user);
  const followCallback = (callbackUrl: URL) => gatewayBrowser.get(callbackUrl.pathname + callbackUrl.search);

  return {
    ...gatewayBrowser,
    startLogin,
    chooseUser,
    followCallback,
    /** The answer to the callback. */
    signIn: async (user: string, returnTo?: string) => followCallback(await chooseUser(user, returnTo)),
    /** Null when nobody is signed in. */
    async readUser(): Promise<{ id: string; email: string; name: string; role: string } | null> {
      const response = await gatewayBrowser.get('/api/user');
      return response.status === 200
        ? ((await response.json()) as { id: string; email: string; name: string; role: string })
        : null;
    },
  };
}
export type Visitor = ReturnType<typeof createVisitor>;
