import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import type { OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { OAuthClientInformationFull } from '@modelcontextprotocol/sdk/shared/auth.js';
import express from 'express';

export interface V1OAuthServer {
  readonly url: string;
  /** Access tokens that were given, the oldest first. */
  readonly tokens: readonly string[];
  /** How many renewals were asked for. */
  readonly refreshCount: number;
  /** From now on it is refused. */
  revokeToken(token: string): void;
  close(): Promise<void>;
}

/** A server made with the SDK's first line that signs its users in by itself, with the SDK's own router. */
export async function startV1OAuthServer(): Promise<V1OAuthServer> {
  const clients = new Map<string, OAuthClientInformationFull>();
  const challenges = new Map<string, string>();
  const validTokens = new Set<string>();
  const tokens: string[] = [];
  let refreshToken = '';
  let refreshCount = 0;
  const issueTokens = () => {
    const token = randomUUID();
    tokens.push(token);
    validTokens.add(token);
    refreshToken = randomUUID();
    return { access_token: token, token_type: 'Bearer', expires_in: 3_600, refresh_token: refreshToken };
  };
  const provider: OAuthServerProvider = {
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient(client) {
        const registeredClient = { ...client, client_id: randomUUID(), client_id_issued_at: 0 };
        clients.set(registeredClient.client_id, registeredClient);
        return registeredClient;
      },
    },
    async authorize(_client, { redirectUri, codeChallenge, state }, res) {
      const code = randomUUID();
      challenges.set(code, codeChallenge);
      const redirect = new URL(redirectUri);
      redirect.searchParams.set('code', code);
      if (state !== undefined) redirect.searchParams.set('state', state);
      res.redirect(redirect.href);
    },
    challengeForAuthorizationCode: async (_client, code) => challenges.get(code) ?? '',
    exchangeAuthorizationCode: async () => issueTokens(),
    async exchangeRefreshToken(_client, token) {
      if (token !== refreshToken) throw new Error('not the last one');
      refreshCount += 1;
      return issueTokens();
    },
    async verifyAccessToken(token) {
      if (!validTokens.has(token))
        throw new (await import('@modelcontextprotocol/sdk/server/auth/errors.js')).InvalidTokenError(
          'ended',
        );
      return { token, clientId: 'any', scopes: [], expiresAt: Math.floor(Date.now() / 1_000) + 3_600 };
    },
  };

  const app = express();
  const listener = await new Promise<Server>((resolve) => {
    const server = app.listen(0, '127.0.0.1', () => resolve(server));
  });
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const url = new URL('/mcp', origin);
  app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl: url }));
  const guard = requireBearerAuth({
    verifier: provider,
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url),
  });
  app.all('/mcp', guard, express.json(), (req, res) => {
    const server = new McpServer({ name: 'v1', version: '1.0.0' });
    server.registerTool('greet', {}, () => ({ content: [{ type: 'text', text: 'Hello' }] }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined as unknown as () => string,
      enableJsonResponse: true,
    });
    void server.connect(transport as never).then(() => transport.handleRequest(req, res, req.body));
  });
  return {
    url: url.href,
    tokens,
    get refreshCount() {
      return refreshCount;
    },
    revokeToken: (token) => void validTokens.delete(token),
    close: () =>
      new Promise((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}
