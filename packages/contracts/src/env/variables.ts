import * as texts from './texts.ts';
import { custom, flag, number, oneOf, text } from './variable.ts';

const day = 24 * 60 * 60 * 1000;
const librechat = true;
const secret = true;

/** Every variable Behalf reads, by group. The one table behind the schema, `.env.example` and the reference. */
export const variableGroups = {
  process: {
    HOST: custom(
      'host',
      texts.hostName,
      'Address to listen on. Anything but loopback opens the gateway to the network.',
      { default: '127.0.0.1', librechat },
    ),
    PORT: number(0, 65_535, 'Port to listen on; 0 takes a free one.', { default: '3080', librechat }),
    PUBLIC_URL: custom(
      'URL',
      texts.publicUrl,
      'Where browsers and providers reach the gateway. Absent: http://localhost:PORT.',
      { alias: 'DOMAIN_SERVER' },
    ),
    TRUST_PROXY: number(
      0,
      32,
      'How many reverse proxies stand in front. X-Forwarded-* is believed for that many hops only.',
      { default: '0', librechat },
    ),
    CONFIG_PATH: custom(
      'path',
      texts.file,
      'The configuration file. Named and missing: the start fails. Unset and missing: the built-in configuration runs.',
      { default: './librechat.yaml', librechat },
    ),
    BEHALF_DATA_DIR: text(
      'Directory of the embedded store and of the key that is made when CREDS_KEY is unset.',
      { default: './data' },
    ),
    LOG_LEVEL: oneOf(['error', 'warn', 'info', 'debug'], 'How much is logged.', { default: 'info' }),
    METRICS_TOKEN: custom(
      'text',
      texts.token,
      'Bearer token with which a collector reads /metrics. Absent: administrators alone.',
      { secret },
    ),
    AUDIT_RETENTION_DAYS: number(1, 3_650, 'Days for which audit events are kept.', { default: '90' }),
    RATE_LIMIT_CALLS: number(
      1,
      10_000_000,
      'Tool calls, reads and lists that one caller may make per minute, at each replica.',
      {
        default: '6000',
      },
    ),
    RATE_LIMIT_WRITES: number(
      1,
      10_000_000,
      'Other writes that one caller may make per minute, at each replica.',
      { default: '60' },
    ),
    NODE_ENV: oneOf(
      ['development', 'production', 'test'],
      'Kind of deployment; development parts refuse to start in production.',
      { librechat },
    ),
  },
  stores: {
    MONGO_URI: custom(
      'URI',
      texts.mongoUri,
      'MongoDB for everything that must last. Absent: SQLite in BEHALF_DATA_DIR.',
      { secret, librechat },
    ),
    REDIS_URI: custom(
      'URI',
      texts.redisUri,
      'Redis for leases, caches and change notices. Absent: the primary store serves them.',
      { secret, librechat },
    ),
    USE_REDIS: flag('false leaves Redis aside although REDIS_URI is set.', { librechat }),
    REDIS_USERNAME: text('User name for Redis, in place of the one in REDIS_URI.', { librechat }),
    REDIS_PASSWORD: text('Password for Redis, in place of the one in REDIS_URI.', { secret, librechat }),
    REDIS_CA: custom(
      'path',
      texts.file,
      'PEM file of the authority that signed the certificate of Redis. Needs a rediss:// REDIS_URI.',
      {
        librechat,
      },
    ),
    REDIS_KEY_PREFIX: text('Put before every key in Redis, so that several installations can share one.', {
      librechat,
    }),
    REDIS_KEY_PREFIX_VAR: text(
      'Name of the variable that holds the prefix, for platforms that set one per revision.',
      { librechat },
    ),
    CREDS_KEY: custom(
      '64 hex characters, or several separated by commas',
      texts.keys,
      'Keys that seal stored credentials: the first writes, all read. Required with MONGO_URI or REDIS_URI; else made in BEHALF_DATA_DIR.',
      { secret, librechat },
    ),
  },
  openid: {
    OPENID_ISSUER: custom(
      'URL',
      texts.issuer,
      'Issuer of the identity provider that people and programs come from. Set: no setup link is printed.',
      {
        librechat,
      },
    ),
    OPENID_CLIENT_ID: text(
      'Client id of the gateway at the provider. Absent: bearer tokens alone, no sign-in of browsers.',
      { librechat },
    ),
    OPENID_CLIENT_SECRET: text(
      'Client secret of the gateway at the provider. Absent: a public client, with PKCE alone.',
      { secret, librechat },
    ),
    OPENID_AUDIENCE: text(
      'Audience asked for at sign-in, and the only one accepted in bearer tokens. Absent: the client id, also with api:// before it.',
      { librechat },
    ),
    OPENID_SCOPE: text('Scopes asked for at sign-in.', { default: 'openid profile email', librechat }),
    OPENID_CALLBACK_URL: custom('path or URL', texts.callback, 'Redirect of the sign-in.', {
      default: '/oauth/openid/callback',
      librechat,
    }),
    OPENID_ALLOWED_TENANTS: text(
      'Values of `tid` that sign-ins and bearer tokens may have, separated by commas. Absent: any the issuer vouches for.',
      {},
    ),
    OPENID_ALLOWED_CLIENTS: text(
      'Clients (`azp`, else `appid`, `client_id` or `cid`) whose bearer tokens are accepted, separated by commas. Absent: any.',
      {},
    ),
    OPENID_INTROSPECTION: flag(
      'true asks the provider about bearer tokens that are no JWT (RFC 7662), with the client’s secret. Absent: such tokens are refused.',
      {},
    ),
    OPENID_MCP_SCOPE: text(
      'Scopes of a user’s token that /mcp asks for, separated by spaces, named to MCP clients. Absent: any token for the gateway.',
      {},
    ),
    OPENID_ROLE_CLAIM: text('Claim that names roles, of users and of programs.', { default: 'roles' }),
    OPENID_GROUPS_CLAIM: text('Claim that names a user’s groups. Absent: nobody has any.', {}),
    OPENID_TENANT_CLAIM: text(
      'Claim that names a user’s tenant, other than default. Absent: one tenant, default.',
      {},
    ),
    OPENID_ADMIN_ROLE: text(
      'Value that makes a user ADMIN, instead of the plain word ADMIN in OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_ADMIN_ROLE_PARAMETER_PATH: text(
      'Claim in which OPENID_ADMIN_ROLE is looked for, as a dotted path. Absent: OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_ADMIN_ROLE_TOKEN_KIND: oneOf(
      ['access', 'id', 'userinfo'],
      'Where that claim is read when a browser signs in. Of a bearer token always in itself.',
      {
        default: 'id',
        librechat,
      },
    ),
    OPENID_REQUIRED_ROLE: text(
      'Only those whose token has one of these values (separated by commas) come in, programs too.',
      {
        librechat,
      },
    ),
    OPENID_REQUIRED_ROLE_PARAMETER_PATH: text(
      'Claim in which OPENID_REQUIRED_ROLE is looked for, as a dotted path. Absent: OPENID_ROLE_CLAIM.',
      { librechat },
    ),
    OPENID_REQUIRED_ROLE_TOKEN_KIND: oneOf(
      ['access', 'id', 'userinfo'],
      'Where that claim is read when a browser signs in. Of a bearer token always in itself.',
      {
        default: 'id',
        librechat,
      },
    ),
    OBO_AUTHOR_MAX_AGE: number(
      60_000,
      365 * day,
      'Milliseconds for which a role that a token gave to who configured an On-Behalf-Of server counts without being confirmed by another token.',
      { default: '14 * 24 * 60 * 60 * 1000' },
    ),
    GRAPH_API_SCOPES: text('Scopes of the token behind {{LIBRECHAT_GRAPH_ACCESS_TOKEN}}.', {
      default: 'https://graph.microsoft.com/.default',
      librechat,
    }),
  },
  proxies: {
    // Secret, all three: the URL of a proxy is where its password stands.
    PROXY: custom('URL', texts.proxyUrl, 'Proxy for every outgoing request, unless a server names its own.', {
      secret,
      librechat,
    }),
    HTTP_PROXY: custom(
      'URL',
      texts.proxyUrl,
      'Proxy for http, when PROXY is unset. Lower case wins; an empty http_proxy switches it off.',
      { secret, librechat, alias: 'http_proxy' },
    ),
    HTTPS_PROXY: custom(
      'URL',
      texts.proxyUrl,
      'Proxy for https, when PROXY is unset. Lower case wins; an empty https_proxy switches it off.',
      { secret, librechat, alias: 'https_proxy' },
    ),
    NO_PROXY: text('Hosts, domains, addresses, ranges and CIDR blocks reached without a proxy.', {
      librechat,
      alias: 'no_proxy',
    }),
  },
  mcp: {
    MCP_OAUTH_DETECTION_TIMEOUT: number(
      100,
      60_000,
      'Milliseconds for each answer while it is found out where the users of a server sign in.',
      { default: '5000', librechat },
    ),
    MCP_OAUTH_HANDLING_TIMEOUT: number(
      30_000,
      60 * 60 * 1000,
      'Milliseconds a user has to finish a sign-in at a server.',
      { default: '600000', librechat },
    ),
    MCP_OAUTH_FLOW_TTL: number(
      30_000,
      day,
      'Milliseconds from its beginning for which a sign-in is told of; at least until it can have ended.',
      { default: '900000', librechat },
    ),
    MCP_USER_CONNECTION_IDLE_TIMEOUT: number(
      1,
      day,
      'Milliseconds after which an idle connection of a user is closed.',
      { default: '900000', librechat },
    ),
    MCP_SERVERS_PER_USER: number(0, 100_000, 'Servers a user may have created.', { default: '50' }),
    MCP_TOOLS_LIST_MAX_PAGES: number(1, 10_000, 'Pages of a tool list that are read.', {
      default: '50',
      librechat,
    }),
    MCP_TOOLS_LIST_MAX_TOOLS: number(1, 100_000, 'Tools of a server that are kept.', {
      default: '1000',
      librechat,
    }),
    MCP_TOOLS_LIST_MAX_BYTES: number(1, 2 ** 30, 'Bytes of a tool list that are read.', {
      default: '5242880',
      librechat,
    }),
    MCP_TOOLS_LIST_TIMEOUT_MS: number(1, day, 'Milliseconds reading a tool list may take.', {
      default: '30000',
      librechat,
    }),
    MCP_STREAMABLE_HTTP_MAX_RESPONSE_BYTES: number(
      1,
      2 ** 30,
      'Bytes of an answer of a server that are accepted. There is always a limit.',
      { default: '16777216', librechat },
    ),
    MCP_STREAMABLE_HTTP_MAX_LINE_BYTES: number(
      1,
      2 ** 30,
      'Bytes of one line of an event stream that are accepted.',
      { default: '5242880', librechat },
    ),
    MCP_CB_MAX_FAILED_ROUNDS: number(
      1,
      1000,
      'Consecutive failures to reach a server after which calls fail at once.',
      { default: '3', librechat },
    ),
    MCP_CB_BASE_BACKOFF_MS: number(
      1,
      day,
      'Milliseconds until such a server is tried again; doubled each time.',
      { default: '30000', librechat },
    ),
    MCP_CB_MAX_BACKOFF_MS: number(1, day, 'The longest such wait in milliseconds.', {
      default: '300000',
      librechat,
    }),
  },
  cli: {
    BEHALF_URL: custom(
      'URL',
      texts.publicUrl,
      'Gateway that the command line speaks to. The gateway itself does not read it.',
      {},
    ),
    BEHALF_INSECURE: flag(
      'true lets the command line send its key over plain http to another machine. The gateway does not read it.',
      {},
    ),
    BEHALF_API_KEY: text('Personal API key of the command line. The gateway itself does not read it.', {
      secret,
    }),
  },
} as const;

export const groupTitles: Readonly<Record<keyof typeof variableGroups, string>> = {
  process: 'Process',
  stores: 'Stores and keys',
  openid: 'Sign-in with an identity provider',
  proxies: 'Outgoing proxies',
  mcp: 'MCP limits',
  cli: 'Command line',
};

export const variables = {
  ...variableGroups.process,
  ...variableGroups.stores,
  ...variableGroups.openid,
  ...variableGroups.proxies,
  ...variableGroups.mcp,
  ...variableGroups.cli,
} as const;

export type VariableName = keyof typeof variables;
