/** The imports that one package may use. Everything else is denied, including other subpaths. */
export interface PackageRule {
  folder: string;
  /** Specifiers of Behalf's own packages. */
  ownPackages: readonly string[];
  /** npm packages. Each must also be declared in the package's own package.json. */
  npm: readonly string[];
  /** `none` for packages that also run in a browser. */
  node: 'all' | 'none';
  /** Never deployed, so it may also use development dependencies. */
  development?: boolean;
}

const stores = ['sqlite', 'mongo', 'redis', 'copy', 'open'].map((name) => `@behalf/stores/${name}`);

/** The import table. It applies to all modules that are not tests. */
export const packageRules: readonly PackageRule[] = [
  { folder: 'packages/contracts', ownPackages: [], npm: ['zod'], node: 'none' },
  { folder: 'packages/kernel', ownPackages: [], npm: [], node: 'all' },
  {
    folder: 'packages/settings',
    ownPackages: ['@behalf/contracts', '@behalf/kernel'],
    npm: ['yaml'],
    node: 'all',
  },
  {
    folder: 'packages/egress',
    ownPackages: ['@behalf/contracts', '@behalf/kernel'],
    npm: ['undici'],
    node: 'all',
  },
  {
    folder: 'packages/gateway',
    // The compiled definition of a server (ADR 9).
    ownPackages: ['@behalf/contracts', '@behalf/kernel', '@behalf/settings'],
    npm: ['@azure/msal-node', '@modelcontextprotocol/client', 'ajv', 'jose', 'openid-client', 're2js', 'ws'],
    node: 'all',
  },
  {
    folder: 'packages/stores',
    ownPackages: ['@behalf/contracts', '@behalf/kernel', '@behalf/gateway/ports'],
    npm: ['libsql', 'mongoose', 'redis', 'keyv', '@keyv/redis'],
    node: 'all',
  },
  {
    folder: 'packages/testkit',
    ownPackages: [
      '@behalf/contracts',
      '@behalf/kernel',
      '@behalf/egress',
      '@behalf/gateway',
      '@behalf/gateway/ports',
      '@behalf/gateway/vault',
      // The write rules that the in-memory store shares with the other stores.
      '@behalf/stores',
      ...stores,
    ],
    npm: ['@jest/globals', 'bson', 'mingo'],
    node: 'all',
  },
  {
    folder: 'packages/cli',
    ownPackages: ['@behalf/contracts', '@behalf/kernel', '@behalf/settings'],
    npm: [],
    node: 'all',
  },
  {
    folder: 'packages/web',
    ownPackages: ['@behalf/contracts', '@behalf/contracts/plain'],
    npm: [
      '@tanstack/react-query',
      'mdast-util-from-markdown',
      'mdast-util-gfm',
      'micromark-extension-gfm',
      'react',
      'react-dom',
      'wouter',
    ],
    node: 'none',
  },
  {
    folder: 'packages/devidp',
    ownPackages: ['@behalf/contracts', '@behalf/kernel'],
    npm: ['@modelcontextprotocol/sdk', '@peculiar/x509', 'jose', 'oidc-provider'],
    node: 'all',
    development: true,
  },
  {
    folder: 'api',
    ownPackages: [
      '@behalf/contracts',
      '@behalf/kernel',
      '@behalf/settings',
      '@behalf/egress',
      '@behalf/gateway',
      '@behalf/gateway/authorization-server',
      '@behalf/gateway/openid',
      '@behalf/gateway/ports',
      ...stores,
    ],
    npm: ['express', 'helmet', 'oidc-provider', 'openai', 'prom-client', 'winston'],
    node: 'all',
  },
  {
    folder: 'config/scripts',
    // The gateway's account code, so that commands hash and encrypt exactly as a sign-in expects (ADR 8).
    ownPackages: [
      '@behalf/contracts',
      '@behalf/kernel',
      '@behalf/settings',
      '@behalf/gateway',
      // Commands create signing keys in the format of the authorization server.
      '@behalf/gateway/authorization-server',
      '@behalf/gateway/ports',
      ...stores,
    ],
    npm: [],
    node: 'all',
  },
  {
    folder: 'bench',
    ownPackages: [
      '@behalf/contracts',
      '@behalf/kernel',
      '@behalf/settings',
      '@behalf/egress',
      '@behalf/gateway',
      '@behalf/gateway/ports',
      ...stores,
      '@behalf/api/compose',
      '@behalf/api/app',
      '@behalf/devidp',
      '@behalf/devidp/demo',
      '@behalf/devidp/sample',
      '@behalf/testkit',
      '@behalf/testkit/catalog',
      '@behalf/testkit/memory-store',
      '@behalf/testkit/vault',
    ],
    npm: ['@azure/msal-node', '@modelcontextprotocol/client', 'playwright-core', 'undici'],
    node: 'all',
    development: true,
  },
];

/** Modules that only these paths (prefixes) may import, in addition to the package rules. */
export interface Confinement {
  modules: readonly string[];
  allowedPaths: readonly string[];
  reason: string;
}

export const confinements: readonly Confinement[] = [
  {
    modules: ['@modelcontextprotocol/'],
    allowedPaths: ['packages/gateway/src/upstream/', 'packages/testkit/', 'packages/devidp/', 'bench/'],
    reason: 'only the MCP client and the MCP endpoint use types of the SDK',
  },
  {
    modules: ['jose', 'openid-client'],
    allowedPaths: [
      'packages/gateway/src/identity/',
      // Signs the gateway's client assertions.
      'packages/gateway/src/credentials/oauth/clientAuthentication.ts',
      'packages/devidp/',
    ],
    reason: 'tokens are verified in one place',
  },
  {
    modules: ['@azure/msal-node'],
    // The benchmark compares with its cache.
    allowedPaths: ['packages/gateway/src/credentials/obo/providers/', 'bench/'],
    reason: 'only the Entra provider uses MSAL',
  },
  {
    modules: ['oidc-provider', 'koa'],
    allowedPaths: ['api/src/routes/authorization-server/', 'packages/devidp/'],
    reason: 'only the authorization server uses oidc-provider',
  },
  {
    modules: ['mongoose'],
    allowedPaths: ['packages/stores/src/mongo/'],
    reason: 'one folder per technology',
  },
  { modules: ['libsql'], allowedPaths: ['packages/stores/src/sqlite/'], reason: 'one folder per technology' },
  {
    modules: ['redis', '@keyv/redis'],
    allowedPaths: ['packages/stores/src/redis/'],
    reason: 'one folder per technology',
  },
  {
    modules: ['node:child_process'],
    allowedPaths: [
      'packages/gateway/src/upstream/',
      // Opens the user's browser.
      'packages/cli/src/browser.ts',
      'packages/testkit/',
      'packages/devidp/src/demo/',
      'bench/',
    ],
    reason: 'stdio servers are spawned in one place, with an allow-list for their environment',
  },
  {
    modules: ['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls', 'node:dns', 'node:dgram'],
    allowedPaths: ['packages/egress/', 'packages/testkit/', 'packages/devidp/', 'api/', 'bench/'],
    reason: 'only egress connects, and only api listens',
  },
  {
    // A connection does not know where its token came from, and a credential does not know which connection uses it.
    modules: ['packages/gateway/src/connections/'],
    allowedPaths: ['connections/', 'toolcall/', 'servers/', 'index.ts'].map(
      (path) => `packages/gateway/src/${path}`,
    ),
    reason: 'only toolcall and servers combine connections with credentials',
  },
  {
    modules: ['node:process'],
    allowedPaths: [],
    reason: 'a read of the environment would not be recognized',
  },
];

/** Folders whose direct subfolders must not depend on each other in a cycle. */
export const acyclicFolders: readonly string[] = [
  'packages/gateway/src',
  'packages/gateway/src/credentials',
  'packages/gateway/src/identity',
  'packages/gateway/src/upstream',
  'api/src',
  'api/src/routes',
  'api/src/routes/mcp',
];

/** An analysis that finds fewer modules looked in the wrong place. Raise it as the tree grows. */
export const minModules = 500;
