import type { Mutant } from '../mutants.ts';

export const devidp: readonly Mutant[] = [
  {
    id: 'devidp.login',
    file: 'packages/devidp/src/pages/html.ts',
    find: '[&<>"\']/g',
    replace: '[&]/g',
  },
  {
    id: 'devidp.login',
    file: 'packages/devidp/src/pages/html.ts',
    find: '[&<>"\']/g',
    replace: '[&<>]/g',
  },
  {
    id: 'devidp.login',
    file: 'packages/devidp/src/configuration.ts',
    find: 'pkce: { required: () => true }',
    replace: 'pkce: { required: () => false }',
  },
  {
    id: 'devidp.login',
    file: 'packages/devidp/src/configuration.ts',
    find: 'rotateRefreshToken: true',
    replace: 'rotateRefreshToken: false',
  },
  {
    id: 'devidp.login',
    file: 'packages/devidp/src/interactions.ts',
    find: '} else if (user) {',
    replace: '} else if (users[0]) {',
  },
  {
    id: 'devidp.tokens',
    file: 'packages/devidp/src/accessTokens.ts',
    find: 'if (asked !== resource && !isResource(asked)) throw new errors.InvalidTarget();',
    replace: 'if (asked === audience.toUpperCase()) throw new errors.InvalidTarget();',
  },
  {
    id: 'devidp.tokens',
    file: 'packages/devidp/src/tokens.ts',
    find: 'options.key ?? keys.current();\n    //',
    replace: 'keys.current();\n    //',
  },
  {
    id: 'devidp.app-only',
    file: 'packages/devidp/src/accessTokens.ts',
    find: "if (token.kind === 'ClientCredentials') delete payload.scope;",
    replace: "if (token.kind === 'ClientCredentials') payload.scope ??= scopes.join(' ');",
  },
  {
    id: 'devidp.app-only',
    file: 'packages/devidp/src/clients.ts',
    find: "...(secret === undefined ? [] : ['client_credentials'])",
    replace: "'client_credentials'",
  },
  {
    id: 'devidp.rotation',
    file: 'packages/devidp/src/signingKeys.ts',
    find: '[fresh, ...(keepOld ? keys.slice(0, MOST_KEYS - 1) : [])]',
    replace: '[fresh, ...keys.slice(0, MOST_KEYS - 1)]',
  },
  {
    id: 'devidp.rotation',
    file: 'packages/devidp/src/createDevIdp.ts',
    find: 'providerConfiguration({ ...parts, ...kept })',
    replace: 'providerConfiguration({ ...parts, ...kept, adapter: createMemoryAdapter() })',
  },
  {
    id: 'devidp.rotation',
    file: 'packages/devidp/src/createDevIdp.ts',
    find: 'providerConfiguration({ ...parts, ...kept })',
    replace: 'providerConfiguration({ ...parts, ...kept, cookieKey: random.id() })',
  },
  {
    id: 'devidp.development-only',
    file: 'packages/devidp/src/developmentOnly.ts',
    find: 'if (production) {',
    replace: "if (production && host === '') {",
  },
  {
    id: 'devidp.development-only',
    file: 'packages/devidp/src/developmentOnly.ts',
    find: 'if (!isLoopback(host)) {',
    replace: 'if (host.length > 99) {',
  },
  {
    id: 'devidp.development-only',
    file: 'packages/devidp/src/developmentOnly.ts',
    find: "loopback.addSubnet('127.0.0.0', 8, 'ipv4');",
    replace: "loopback.addSubnet('0.0.0.0', 0, 'ipv4');",
  },
  {
    id: 'devidp.development-only',
    file: 'packages/devidp/src/requests.ts',
    find: 'if (!isOwnHost(req.headers.host)) {',
    replace: 'if (!isOwnHost(req.headers.host) && !req.headers.host) {',
  },
  {
    id: 'devidp.development-only',
    file: 'packages/devidp/src/main.ts',
    find: "production: process.env.NODE_ENV === 'production',",
    replace: 'production: false,',
  },
];
