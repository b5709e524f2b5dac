import type { Mutant } from '../mutants.ts';

/** What is brought, what is joined, and who we are while a grant lasts. */
export const flowGrants: readonly Mutant[] = [
  {
    id: 'flow.f08.other',
    file: 'packages/gateway/src/credentials/oauth/flows/startFlow.ts',
    find: 'label === wanted.label &&',
    replace: '',
  },
  {
    id: 'flow.f08.other',
    file: 'packages/gateway/src/credentials/oauth/flows/startFlow.ts',
    find: "from: ['created'], status: 'cancelled'",
    replace: "from: ['created', 'opened'], status: 'cancelled'",
  },
  {
    id: 'flow.f08.crash',
    file: 'packages/gateway/src/credentials/oauth/flows/finishFlow.ts',
    find: 'Math.min(flow.expiresAt, now + EXCHANGE_MS)',
    replace: 'Math.max(flow.expiresAt, now + EXCHANGE_MS)',
  },
  {
    id: 'flow.f13.kept',
    file: 'packages/gateway/src/credentials/oauth/grantContexts.ts',
    find: "        if (client.source !== 'dynamic') return false;\n",
    replace: '        await clients.forget(use, client);\n',
  },
  {
    id: 'flow.f13.kept',
    file: 'packages/gateway/src/credentials/oauth/registration/dynamicClients.ts',
    find: 'return record && record.clientId !== refused ? usable(record) : null;',
    replace: 'return record && refused === undefined ? usable(record) : null;',
  },
  {
    id: 'flow.client.method',
    file: 'packages/gateway/src/credentials/oauth/flows/finishFlow.ts',
    find: 'authMethods: [payload.clientAuth]',
    replace: 'authMethods: null',
  },
  {
    id: 'flow.client.method',
    file: 'packages/gateway/src/credentials/oauth/grantContexts.ts',
    find: 'endpoints?.clientAuth ? [endpoints.clientAuth] : null',
    replace: 'null',
  },
  {
    id: 'flow.import.probed',
    file: 'packages/gateway/src/credentials/oauth/importCredential.ts',
    find: "if (probe === 'refused') throw new GatewayError('MCP_TOKEN_REFUSED');",
    replace:
      "if (probe === 'refused') return importCredential({ ...parts, probe: async () => 'ok' }, server, principal, request);",
  },
  {
    id: 'flow.import.label',
    file: 'packages/gateway/src/credentials/oauth/importCredential.ts',
    find: "if (signIn && signIn.status !== 'revoked')",
    replace: "if (signIn && signIn.status === 'active')",
  },
  {
    id: 'flow.import.token',
    file: 'packages/contracts/src/rest/oauth.ts',
    find: '/^[\\x21-\\x7e]+$/',
    replace: '/^[^ ]+$/',
  },
  {
    id: 'flow.import.token',
    file: 'packages/contracts/src/rest/oauth.ts',
    find: '.max(TEN_YEARS_S)',
    replace: '.max(TEN_YEARS_S * 2)',
  },
  {
    id: 'flow.http.scope',
    file: 'api/src/oauth/credentialRoutes.ts',
    find: "path: '/api/mcp/:serverName/credential',\n      access: 'signed-in',\n      scope: 'servers',",
    replace: "path: '/api/mcp/:serverName/credential',\n      access: 'signed-in',\n      scope: 'mcp',",
  },
  {
    id: 'flow.http.scope',
    file: 'api/src/oauth/credentialRoutes.ts',
    find: "path: '/api/mcp/:serverName/oauth/disconnect',\n      access: 'signed-in',\n      scope: 'servers',",
    replace:
      "path: '/api/mcp/:serverName/oauth/disconnect',\n      access: 'signed-in',\n      scope: 'mcp',",
  },
];
