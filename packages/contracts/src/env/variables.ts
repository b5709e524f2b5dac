import { librechatSecrets } from './librechatVariables.ts';
import * as schemas from './variable.ts';
import {
  type Variable,
  booleanVariable,
  customVariable,
  enumVariable,
  numberVariable,
  textVariable,
} from './variable.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const librechat = true;
const secret = true;

/**
 * All variables that Behalf reads, by group. The schema, `.env.example` and the reference are generated from this
 * table.
 */
export const variableGroups = {
  process: {
    HOST: customVariable(
      'host',
      schemas.hostName,
      'Address to listen on. Any address other than loopback exposes the gateway to the network.',
      { default: '127.0.0.1', librechat },
    ),
    PORT: numberVariable(0, 65_535, 'Port to listen on; 0 selects a free port.', {
      default: '3080',
      librechat,
    }),
    PUBLIC_URL: customVariable(
      'URL',
      schemas.publicUrl,
      'URL under which browsers and providers reach the gateway. Absent: http://localhost:PORT.',
      { alias: 'DOMAIN_SERVER' },
    ),
    TRUST_PROXY: numberVariable(
      0,
      32,
      'Number of reverse proxies in front of the gateway. X-Forwarded-* is trusted for that many hops only.',
      { default: '0', librechat },
    ),
    CONFIG_PATH: customVariable(
      'path',
      schemas.filePath,
      'Path of the configuration file. If the file is missing: with this variable set, the gateway does not start; with it unset, the built-in configuration is used.',
      { default: './librechat.yaml', librechat },
    ),
    BEHALF_DATA_DIR: textVariable(
      'Directory of the embedded store and of the key that is generated if CREDS_KEY is unset.',
      { default: './data' },
    ),
    LOG_LEVEL: enumVariable(['error', 'warn', 'info', 'debug'], 'Log level.', { default: 'info' }),
    METRICS_TOKEN: customVariable(
      'text',
      schemas.bearerToken,
      'Bearer token for reading /metrics. Absent: only administrators can read it.',
      { secret },
    ),
    AUDIT_RETENTION_DAYS: numberVariable(1, 3_650, 'Retention of audit events in days.', { default: '90' }),
    RATE_LIMIT_CALLS: numberVariable(
      1,
      10_000_000,
      'Tool calls, reads and lists per caller and minute, on each replica.',
      {
        default: '6000',
      },
    ),
    RATE_LIMIT_WRITES: numberVariable(1, 10_000_000, 'Other writes per caller and minute, on each replica.', {
      default: '60',
    }),
    NODE_ENV: enumVariable(
      ['development', 'production', 'test'],
      'Kind of deployment. Development components do not start in production.',
      { librechat },
    ),
  },
  stores: {
    MONGO_URI: customVariable(
      'URI',
      schemas.mongoUri,
      'MongoDB for all persistent data. Absent: SQLite in BEHALF_DATA_DIR.',
      { secret, librechat },
    ),
    REDIS_URI: customVariable(
      'URI',
      schemas.redisUri,
      'Redis for leases, caches and change events. Absent: the primary store is used.',
      { secret, librechat },
    ),
    USE_REDIS: booleanVariable('false: do not use Redis although REDIS_URI is set.', { librechat }),
    REDIS_USERNAME: textVariable('User name for Redis, in place of the one in REDIS_URI.', { librechat }),
    REDIS_PASSWORD: textVariable('Password for Redis, in place of the one in REDIS_URI.', {
      secret,
      librechat,
    }),
    REDIS_CA: customVariable(
      'path',
      schemas.filePath,
      'PEM file of the CA that signed the certificate of Redis. Needs a rediss:// REDIS_URI.',
      {
        librechat,
      },
    ),
    REDIS_KEY_PREFIX: textVariable(
      'Prefix of every key in Redis, so that several installations can share one Redis.',
      {
        librechat,
      },
    ),
    REDIS_KEY_PREFIX_VAR: textVariable(
      'Name of the variable that holds the prefix, for platforms that set one per revision.',
      { librechat },
    ),
    CREDS_KEY: customVariable(
      '64 hex characters, or several separated by commas',
      schemas.credentialKeys,
      'Keys that encrypt stored credentials: the first one encrypts, all of them decrypt. Required with MONGO_URI or REDIS_URI; otherwise generated in BEHALF_DATA_DIR.',
      { secret, librechat },
    ),
  },
  openid: {
    OPENID_ISSUER: customVariable(
      'URL',
      schemas.issuerUrl,
      'Issuer of the identity provider of users and service principals. If set, no setup link is printed.',
      {
        librechat,
      },
    ),
    OPENID_CLIENT_ID: textVariable(
      'Client id of the gateway at the provider. Absent: only bearer tokens, no browser sign-in.',
      { librechat },
    ),
    OPENID_CLIENT_SECRET: textVariable(
      'Client secret of the gateway at the provider. Absent: a public client with PKCE.',
      { secret, librechat },
    ),
    OPENID_AUDIENCE: textVariable(
      'Audience requested at sign-in, and the only one accepted in bearer tokens. Absent: the client id, with or without the prefix api://.',
      { librechat },
    ),
    OPENID_SCOPE: textVariable('Scopes requested at sign-in.', {
      default: 'openid profile email',
      librechat,
    }),
    OPENID_CALLBACK_URL: customVariable('path or URL', schemas.redirectUri, 'Redirect URI of the sign-in.', {
      default: '/oauth/openid/callback',
      librechat,
    }),
    OPENID_ALLOWED_TENANTS: textVariable(
      'Accepted values of `tid` in sign-ins and bearer tokens, separated by commas. Absent: any tenant that matches the issuer.',
      {},
    ),
    OPENID_ALLOWED_CLIENTS: textVariable(
      'Clients (`azp`, else `appid`, `client_id` or `cid`) whose bearer tokens are accepted, separated by commas. Absent: any.',
      {},
    ),
    OPENID_INTROSPECTION: booleanVariable(
      'true: introspect opaque bearer tokens at the provider (RFC 7662), with the client secret. Absent: opaque tokens are refused.',
      {},
    ),
    OPENID_MCP_SCOPE: textVariable(
      'Scopes that /mcp requires in a user’s token, separated by spaces, announced to MCP clients. Absent: any token for the gateway.',
      {},
    ),
    OPENID_ROLE_CLAIM: textVariable('Claim with the roles of users and service principals.', {
      default: 'roles',
    }),
    OPENID_GROUPS_CLAIM: textVariable('Claim with the groups of a user. Absent: users have no groups.', {}),
    OPENID_TENANT_CLAIM: textVariable(
      'Claim with the tenant of a user. Absent: all users have the tenant default.',
      {},
    ),
    OPENID_ADMIN_ROLE: textVariable(
      'Claim value that makes a user ADMIN, in place of the value ADMIN in OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_ADMIN_ROLE_PARAMETER_PATH: textVariable(
      'Claim that is checked for OPENID_ADMIN_ROLE, as a dotted path. Absent: OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_ADMIN_ROLE_TOKEN_KIND: enumVariable(
      ['access', 'id', 'userinfo'],
      'Source of that claim at a browser sign-in. For a bearer token it is always the token itself.',
      {
        default: 'id',
        librechat,
      },
    ),
    OPENID_REQUIRED_ROLE: textVariable(
      'Only users and service principals whose token has one of these values (separated by commas) are admitted.',
      {
        librechat,
      },
    ),
    OPENID_REQUIRED_ROLE_PARAMETER_PATH: textVariable(
      'Claim that is checked for OPENID_REQUIRED_ROLE, as a dotted path. Absent: OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_REQUIRED_ROLE_TOKEN_KIND: enumVariable(
      ['access', 'id', 'userinfo'],
      'Source of that claim at a browser sign-in. For a bearer token it is always the token itself.',
      {
        default: 'id',
        librechat,
      },
    ),
    OBO_AUTHOR_MAX_AGE: numberVariable(
      60_000,
      365 * DAY_MS,
      'Milliseconds for which a role from a token of the user who configured an On-Behalf-Of server is trusted without a newer token.',
      { default: '14 * 24 * 60 * 60 * 1000' },
    ),
    GRAPH_API_SCOPES: textVariable('Scopes of the token for {{LIBRECHAT_GRAPH_ACCESS_TOKEN}}.', {
      default: 'https://graph.microsoft.com/.default',
      librechat,
    }),
  },
  proxies: {
    // All three are secret, because a proxy URL may contain a password.
    PROXY: customVariable(
      'URL',
      schemas.proxyUrl,
      'Proxy for every outgoing request, unless the server definition sets a proxy.',
      {
        secret,
        librechat,
      },
    ),
    HTTP_PROXY: customVariable(
      'URL',
      schemas.proxyUrl,
      'Proxy for http, when PROXY is unset. http_proxy takes precedence; an empty http_proxy disables the proxy.',
      { secret, librechat, alias: 'http_proxy' },
    ),
    HTTPS_PROXY: customVariable(
      'URL',
      schemas.proxyUrl,
      'Proxy for https, when PROXY is unset. https_proxy takes precedence; an empty https_proxy disables the proxy.',
      { secret, librechat, alias: 'https_proxy' },
    ),
    NO_PROXY: textVariable('Hosts, domains, addresses, ranges and CIDR blocks reached without a proxy.', {
      librechat,
      alias: 'no_proxy',
    }),
  },
  mcp: {
    MCP_OAUTH_DETECTION_TIMEOUT: numberVariable(
      100,
      60_000,
      'Timeout in milliseconds of each request of the OAuth detection for a server.',
      { default: '5000', librechat },
    ),
    MCP_OAUTH_HANDLING_TIMEOUT: numberVariable(
      30_000,
      60 * 60 * 1000,
      'Milliseconds within which a user must finish a sign-in at a server.',
      { default: '600000', librechat },
    ),
    MCP_OAUTH_FLOW_TTL: numberVariable(
      30_000,
      DAY_MS,
      'Lifetime in milliseconds of the state of a sign-in, from the start of the sign-in; at least MCP_OAUTH_HANDLING_TIMEOUT.',
      { default: '900000', librechat },
    ),
    MCP_USER_CONNECTION_IDLE_TIMEOUT: numberVariable(
      1,
      DAY_MS,
      'Milliseconds after which an idle connection of a user is closed.',
      { default: '900000', librechat },
    ),
    MCP_SERVERS_PER_USER: numberVariable(0, 100_000, 'Maximum number of servers that a user may create.', {
      default: '50',
    }),
    MCP_TOOLS_LIST_MAX_PAGES: numberVariable(1, 10_000, 'Maximum number of pages of a tool list.', {
      default: '50',
      librechat,
    }),
    MCP_TOOLS_LIST_MAX_TOOLS: numberVariable(1, 100_000, 'Maximum number of tools of a server.', {
      default: '1000',
      librechat,
    }),
    MCP_TOOLS_LIST_MAX_BYTES: numberVariable(1, 2 ** 30, 'Maximum size of a tool list in bytes.', {
      default: '5242880',
      librechat,
    }),
    MCP_TOOLS_LIST_TIMEOUT_MS: numberVariable(1, DAY_MS, 'Timeout in milliseconds for reading a tool list.', {
      default: '30000',
      librechat,
    }),
    MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES: numberVariable(
      1,
      2 ** 30,
      'Maximum size of a server response in bytes.',
      { default: '16777216', librechat },
    ),
    MCP_STREAMABLE_HTTP_MAX_LINE_BYTES: numberVariable(
      1,
      2 ** 30,
      'Maximum size of one line of an event stream in bytes.',
      { default: '5242880', librechat },
    ),
    MCP_CB_MAX_FAILED_ROUNDS: numberVariable(
      1,
      1000,
      'Consecutive connection failures after which calls to a server fail immediately.',
      { default: '3', librechat },
    ),
    MCP_CB_BASE_BACKOFF_MS: numberVariable(
      1,
      DAY_MS,
      'Initial backoff in milliseconds after which calls to this server are tried again; doubled after each failure.',
      { default: '30000', librechat },
    ),
    MCP_CB_MAX_BACKOFF_MS: numberVariable(1, DAY_MS, 'Maximum backoff in milliseconds.', {
      default: '300000',
      librechat,
    }),
  },
  cli: {
    BEHALF_URL: customVariable(
      'URL',
      schemas.publicUrl,
      'URL of the gateway for the command line. The gateway itself does not read it.',
      {},
    ),
    BEHALF_INSECURE: booleanVariable(
      'true: the command line may send its key over plain http to another machine. The gateway does not read it.',
      {},
    ),
    BEHALF_API_KEY: textVariable(
      'Personal API key of the command line. The gateway itself does not read it.',
      {
        secret,
      },
    ),
  },
} as const;

export const variableGroupTitles: Readonly<Record<keyof typeof variableGroups, string>> = {
  process: 'Process',
  stores: 'Stores and keys',
  openid: 'Sign-in with an identity provider',
  proxies: 'Outgoing proxies',
  mcp: 'MCP limits',
  cli: 'Command line',
};

export const envVariables = {
  ...variableGroups.process,
  ...variableGroups.stores,
  ...variableGroups.openid,
  ...variableGroups.proxies,
  ...variableGroups.mcp,
  ...variableGroups.cli,
} as const;

export type VariableName = keyof typeof envVariables;

/**
 * Variables that `${...}` in the YAML file never reads. An editor of the file must not be able to send the
 * gateway's own keys to a server.
 */
export const secretVariableNames: ReadonlySet<string> = new Set([
  ...librechatSecrets,
  ...Object.entries<Variable>(envVariables)
    .filter(([, variable]) => variable.secret)
    .flatMap(([name, { alias }]) => (alias === undefined ? [name] : [name, alias])),
  // Read together with the other proxy variables by `egress`.
  'ALL_PROXY',
  'all_proxy',
]);
