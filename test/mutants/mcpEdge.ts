import type { Mutant } from '../mutants.ts';

const resource = 'api/src/resource';

export const mcpEdge: readonly Mutant[] = [
  {
    id: 'mcp.resource.audience',
    file: `${resource}/resourceServer.ts`,
    find: "        throw new GatewayError('AUTH_TOKEN_INVALID');\n",
    replace: '',
  },
  {
    id: 'mcp.resource.audience',
    file: `${resource}/endpoints.ts`,
    find: 'if (named === null || asked === null) return false;',
    replace: 'if (named === null) return false;',
  },
  {
    id: 'mcp.resource.audience',
    file: `${resource}/endpoints.ts`,
    find: "named === '/' || named === ALL_PATH || named === asked",
    replace: 'true',
  },
  {
    id: 'mcp.resource.audience',
    file: `${resource}/endpoints.ts`,
    find: 'return audience.startsWith(`${origin}/`) ?',
    replace: 'return audience.startsWith(origin) ?',
  },
  {
    id: 'mcp.resource.audience',
    file: 'packages/gateway/src/identity/openid/bearerVerifier.ts',
    find: 'named.some((name) => whole.includes(name)) ? null : named.filter(isEndpoint)',
    replace: 'null',
  },
  {
    id: 'mcp.resource.audience',
    file: 'packages/gateway/src/identity/openid/bearerCallers.ts',
    find: ', ...(endpoints && { endpoints })',
    replace: '',
  },
  {
    id: 'mcp.resource.audience',
    file: 'api/src/door/callers.ts',
    find: '    checkToken(caller, req);\n',
    replace: '',
  },
  {
    id: 'mcp.resource.scope',
    file: `${resource}/resourceServer.ts`,
    find: "if (!scopes.every((wanted) => isGiven(wanted, by.scopes ?? []))) throw new GatewayError('TOKEN_SCOPE');",
    replace: '',
  },
  {
    id: 'mcp.resource.challenge',
    file: `${resource}/resourceServer.ts`,
    find: 'const more = [...given,',
    replace: 'const more = [',
  },
  {
    id: 'mcp.clients.allowed',
    file: 'api/src/oauth/openIdSettings.ts',
    find: 'env.OPENID_ALLOWED_CLIENTS === undefined ? null : listed(env.OPENID_ALLOWED_CLIENTS)',
    replace: 'null',
  },
  {
    id: 'mcp.capability.named',
    file: 'packages/gateway/src/toolcall/dialogue.ts',
    find: 'names.length > 0 && names.every((name) => name in passed) ? passed : undefined',
    replace: 'wanted',
  },
];
