/** Which of our packages a package may import, by specifier. Anything not listed is refused, subpaths too. */
export interface PackageRule {
  folder: string;
  ownPackages: readonly string[];
  /** npm packages; each must also be declared in the package's own package.json. */
  npm: readonly string[];
  /** `none` keeps a package fit for a browser. */
  node: 'all' | 'none';
  /** Never deployed, so it may also use what only development installs. */
  development?: boolean;
}

const stores = ['sqlite', 'mongo', 'redis', 'copy', 'open'].map((name) => `@behalf/stores/${name}`);

/** "Who may import whom". Binds every module that is not a test. */
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
    npm: [
      '@azure/msal-node',
      '@modelcontextprotocol/client',
      'ajv',
      'jose',
      'oauth4webapi',
      'openid-client',
      're2js',
      'ws',
    ],
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
      // The rules that the in-memory store shares with the others.
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
    // The gateway's own account code, so that a command hashes and seals exactly as a sign-in expects (ADR 8).
    ownPackages: [
      '@behalf/contracts',
      '@behalf/kernel',
      '@behalf/settings',
      '@behalf/gateway',
      // A signing key is made as the authorization server reads it.
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
  },
];

/** A module that only these folders or files may import, whatever their package rule says. Prefixes. */
export interface Confinement {
  modules: readonly string[];
  allowedPaths: readonly string[];
  reason: string;
}

export const confinements: readonly Confinement[] = [
  {
    modules: ['@modelcontextprotocol/'],
    allowedPaths: ['packages/gateway/src/upstream/', 'packages/testkit/', 'packages/devidp/', 'bench/'],
    reason: 'SDK types stop at the border',
  },
  {
    modules: ['jose', 'openid-client'],
    allowedPaths: [
      'packages/gateway/src/identity/',
      // Signs the gateway's client assertions.
      'packages/gateway/src/credentials/oauth/clientAuthentication.ts',
      'packages/devidp/',
    ],
    reason: 'who somebody is, is decided in one place',
  },
  {
    modules: ['@azure/msal-node'],
    // Measured for itself, its cache included.
    allowedPaths: ['packages/gateway/src/credentials/obo/providers/', 'bench/'],
    reason: 'a stateless exchanger and nothing else: its cache and throttle are never used',
  },
  {
    modules: ['oidc-provider', 'koa'],
    allowedPaths: ['api/src/routes/authorization-server/', 'packages/devidp/'],
    reason: 'the authorization server is a part of its own, behind doors of ours',
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
      // The user's own browser, from the user's own terminal.
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
    reason: 'egress is the only door out; api is the only one that listens',
  },
  { modules: ['node:process'], allowedPaths: [], reason: 'it would hide a read of the environment' },
];

/** The entry points: the only modules that read the environment. testkit runs inside tests and is never deployed. */
export const environmentReaders: readonly string[] = [
  'api/src/env.ts',
  'config/scripts/src/',
  'packages/cli/src/main.ts',
  'packages/devidp/src/main.ts',
  'packages/devidp/src/demo/main.ts',
  'packages/testkit/src/',
  'bench/main.ts',
];

/**
 * Inside gateway: a connection does not know where its token came from, a token does not know which socket carries it.
 * These two folders meet nowhere else than in `introducers`; the public surface only names what it exports.
 */
export const sharedDependencies = {
  root: 'packages/gateway/src/',
  folders: ['credentials', 'connections'],
  introducers: ['toolcall', 'servers', 'index.ts'],
} as const;

/** A scan that sees fewer modules than this looked in the wrong place. Raise it as the tree grows. */
export const minModules = 180;
