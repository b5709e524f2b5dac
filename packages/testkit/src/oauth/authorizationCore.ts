import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type {
  AuthorizationCore,
  AuthorizationServerOptions,
  AuthorizationSwitches,
  Json,
  OAuthCounters,
  OAuthEndpoint,
  OAuthExchange,
  OAuthHold,
  OAuthRequest,
  ScriptedOAuthResponse,
} from './authorizationServer.ts';
import { type IssuedCode, createAuthorizeEndpoint } from './authorizeEndpoint.ts';
import { createClients, readClientCredentials } from './clients.ts';
import { createGrants } from './grants.ts';
import { OAuthErrorResponse, errorReply, formReply, send } from './oauthReply.ts';
import { createIdTokens, createTokenEndpoint } from './tokenEndpoint.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const defaults: AuthorizationSwitches = {
  consent: 'approve',
  user: 'user-1',
  rotation: 'rotate',
  graceMs: 0,
  inGrace: 'successor',
  endsOldAccess: false,
  lifetimeS: 3_600,
  expiresIn: undefined,
  omitRefreshToken: false,
  omitScope: false,
  assertionAudience: 'any',
  formEncoded: false,
  delayMs: 0,
  dropAnswers: 0,
  resource: 'record',
  advertisesIss: true,
  iss: 'sent',
  pkceMethods: ['S256'],
  revocation: 'token',
  registration: true,
  registeredAuthMethod: 'none',
  clientDocuments: false,
  documents: 'both',
  metadata: {},
};

const zeroCounters: OAuthCounters = {
  tokenHits: 0,
  refreshHits: 0,
  rotations: 0,
  reuses: 0,
  familyRevocations: 0,
  registrations: 0,
  revocations: 0,
  authorizations: 0,
  metadataReads: 0,
  documentReads: 0,
};

const COUNTER_OF_ENDPOINT: Partial<Record<OAuthEndpoint, keyof OAuthCounters>> = {
  authorize: 'authorizations',
  token: 'tokenHits',
  revoke: 'revocations',
  metadata: 'metadataReads',
};

/** The authorization server without a socket. `origin` is called on first use. */
export function createAuthorizationCore(
  origin: () => string,
  options: AuthorizationServerOptions = {},
): AuthorizationCore {
  const {
    clients: initialClients = [],
    now = Date.now,
    issuerPath = '',
    fetchDocument = fetchJson,
    publicOrigin: _publicOrigin,
    tls: _tls,
    ...initialSwitches
  } = options;
  let switches: AuthorizationSwitches = { ...defaults, ...initialSwitches };
  let counters: Writable<OAuthCounters> = { ...zeroCounters };
  const requests: Writable<OAuthRequest>[] = [];
  const secrets: string[] = [];
  const scripted = new Map<OAuthEndpoint, ScriptedOAuthResponse[]>();
  const codes = new Map<string, IssuedCode>();

  const issuer = () => `${origin()}${issuerPath}`;
  const endpointUrl = (name: string) => `${issuer()}/${name}`;
  const recordSecret = (secret: string) => {
    secrets.push(secret);
    return secret;
  };
  const count = (what: keyof OAuthCounters) => void (counters[what] += 1);
  const sharedParts = { switches: () => switches, now, count, recordSecret, issuer };
  const holds = createRequestHolds();
  const idTokens = createIdTokens();
  const grants = createGrants(sharedParts);
  const clients = createClients({
    ...sharedParts,
    fetchDocument,
    audiences: () => {
      const audiences = { issuer: issuer(), token_endpoint: endpointUrl('token') };
      const { assertionAudience } = switches;
      return assertionAudience === 'any' ? Object.values(audiences) : [audiences[assertionAudience]];
    },
  });
  const authorizeEndpoint = createAuthorizeEndpoint({ ...sharedParts, clients, codes });
  const tokenEndpoint = createTokenEndpoint({ ...sharedParts, clients, grants, codes, idTokens });
  for (const client of initialClients) clients.add(client);

  const endpoints = () => ({
    authorization: endpointUrl('authorize'),
    token: endpointUrl('token'),
    revocation: endpointUrl('revoke'),
    registration: endpointUrl('register'),
    jwks: endpointUrl('jwks'),
  });

  function endpointOf(path: string): OAuthEndpoint | undefined {
    if (/\/\.well-known\/(oauth-authorization-server|openid-configuration)/.test(path)) return 'metadata';
    for (const name of ['authorize', 'token', 'revoke', 'register', 'jwks'] as const) {
      if (path === `${issuerPath}/${name}`) return name;
    }
    return undefined;
  }

  async function handleEndpoint(
    endpoint: OAuthEndpoint,
    exchange: OAuthExchange,
    fields: URLSearchParams,
  ): Promise<ScriptedOAuthResponse> {
    const presented = readClientCredentials(exchange.headers, fields);
    switch (endpoint) {
      case 'authorize':
        return authorizeEndpoint.handle(exchange, fields);
      case 'token':
        return tokenEndpoint.handle(presented, fields);
      case 'revoke': {
        if (switches.revocation === 'fail') return { status: 503 };
        await clients.authenticate(presented);
        grants.revoke(fields.get('token') ?? '', switches.revocation === 'grant');
        return { status: 200 };
      }
      case 'register':
        if (!switches.registration) return { status: 404 };
        return { status: 201, body: clients.register(JSON.parse(exchange.text) as Json) };
      case 'metadata': {
        const document = documentKind(pathOf(exchange), issuerPath);
        const isOffered = switches.documents === 'both' || switches.documents === document;
        if (document === undefined || !isOffered) return { status: 404 };
        return { status: 200, body: metadataDocument(switches, { issuer: issuer(), ...endpoints() }) };
      }
      case 'jwks':
        return { status: 200, body: idTokens.jwks };
    }
  }

  /** The OAuth error, `tokens`, or undefined. */
  function outcomeOf(endpoint: OAuthEndpoint, { status, body }: ScriptedOAuthResponse): string | undefined {
    if (endpoint !== 'token') return undefined;
    const error = typeof body === 'object' ? body['error'] : undefined;
    return typeof error === 'string' ? error : status === 200 ? 'tokens' : String(status);
  }

  function record(endpoint: OAuthEndpoint, exchange: OAuthExchange, fields: URLSearchParams) {
    const counter = COUNTER_OF_ENDPOINT[endpoint];
    if (counter !== undefined) count(counter);
    if (endpoint === 'token' && fields.get('grant_type') === 'refresh_token') count('refreshHits');
    const presented = readClientCredentials(exchange.headers, fields);
    const { authorization: _, ...headers } = exchange.headers;
    const request: Writable<OAuthRequest> = {
      endpoint,
      verb: exchange.verb,
      path: pathOf(exchange),
      at: now(),
      form: endpoint === 'register' ? { document: exchange.text } : withoutSecrets(fields),
      headers,
      clientAuth: presented && { method: presented.method, clientId: presented.clientId },
    };
    requests.push(request);
    return request;
  }

  async function serve(endpoint: OAuthEndpoint, exchange: OAuthExchange, response: ServerResponse) {
    const fields = fieldsOf(exchange);
    const request = record(endpoint, exchange, fields);
    await holds.pass(endpoint, 'before');
    const scriptedResponse = scripted.get(endpoint)?.shift();
    let reply = scriptedResponse;
    if (scriptedResponse === undefined || scriptedResponse.runsFirst === true) {
      const response = await handleEndpoint(endpoint, exchange, fields).catch((error: unknown) => {
        if (error instanceof OAuthErrorResponse) return errorReply(error);
        throw error;
      });
      request.outcome = outcomeOf(endpoint, response);
      reply ??= endpoint === 'token' && switches.formEncoded ? formReply(response) : response;
    }
    await holds.pass(endpoint, 'after');
    if (endpoint === 'token' && switches.delayMs > 0) {
      await new Promise((resolve) => setTimeout(resolve, switches.delayMs));
    }
    if (endpoint === 'token' && switches.dropAnswers > 0) {
      switches = { ...switches, dropAnswers: switches.dropAnswers - 1 };
      response.socket?.destroy();
      return;
    }
    if (reply) send(reply, response);
  }

  return {
    get issuer() {
      return issuer();
    },
    get endpoints() {
      return endpoints();
    },
    requests,
    get counters() {
      return { ...counters };
    },
    get switches() {
      return switches;
    },
    secrets,
    get clientIds() {
      return clients.ids();
    },
    received: (endpoint) => requests.filter((request) => request.endpoint === endpoint),
    change: (changes) => void (switches = { ...switches, ...changes }),
    reset() {
      counters = { ...zeroCounters };
      requests.length = 0;
    },
    respondNext(endpoint, ...answers) {
      scripted.set(endpoint, [...(scripted.get(endpoint) ?? []), ...answers]);
    },
    hold: (endpoint, when = 'before') => holds.open(endpoint, when),
    addClient: (client) => clients.add(client),
    forgetClient: (clientId) => clients.remove(clientId),
    grant: (request) => grants.issue(request),
    inspect: (accessToken) => grants.inspect(accessToken),
    isCurrent: (refreshToken) => grants.isCurrent(refreshToken),
    endAccessToken: (accessToken) => grants.endAccessToken(accessToken),
    endFamily: (familyId) => grants.endFamily(familyId),
    async approve(authorizeUrl) {
      const url = new URL(authorizeUrl);
      const reply = await authorizeEndpoint.handle(
        { verb: 'POST', path: url.pathname, headers: {}, text: '' },
        new URLSearchParams([...url.searchParams, ['decision', 'approve']]),
      );
      count('authorizations');
      const location = reply.headers?.['location'];
      if (location === undefined) throw new Error(`The authorize endpoint answers ${reply.status}`);
      return new URL(location);
    },
    async handle(exchange, response) {
      const endpoint = endpointOf(pathOf(exchange));
      if (endpoint === undefined) return false;
      await serve(endpoint, exchange, response);
      return true;
    },
  };
}

function pathOf({ path }: OAuthExchange): string {
  return path.split('?')[0] ?? '';
}

/** The form fields of a request. Empty for another body, such as a registration. */
function fieldsOf({ verb, path, headers, text }: OAuthExchange): URLSearchParams {
  const query = new URLSearchParams(path.split('?')[1] ?? '');
  if (verb !== 'POST') return query;
  return headers['content-type']?.startsWith('application/json') === true
    ? new URLSearchParams()
    : new URLSearchParams([...query, ...new URLSearchParams(text)]);
}

async function fetchJson(url: string): Promise<unknown> {
  const response = await fetch(url, { redirect: 'error' });
  if (!response.ok) throw new OAuthErrorResponse('invalid_client', 'the client document cannot be read');
  return response.json();
}

interface EndpointUrls {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly revocation: string;
  readonly registration: string;
  readonly jwks: string;
}

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const SIGNING_ALGS = ['ES256', 'RS256', 'PS256', 'EdDSA'];

/** The metadata of RFC 8414, with the additional fields of OpenID Connect Discovery. */
function metadataDocument(switches: AuthorizationSwitches, urls: EndpointUrls): Json {
  const { pkceMethods, advertisesIss, registration, revocation, clientDocuments, metadata } = switches;
  return {
    issuer: urls.issuer,
    authorization_endpoint: urls.authorization,
    token_endpoint: urls.token,
    jwks_uri: urls.jwks,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    scopes_supported: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    token_endpoint_auth_methods_supported: AUTH_METHODS,
    token_endpoint_auth_signing_alg_values_supported: SIGNING_ALGS,
    ...(registration && { registration_endpoint: urls.registration }),
    ...(revocation !== 'off' && {
      revocation_endpoint: urls.revocation,
      revocation_endpoint_auth_methods_supported: AUTH_METHODS,
    }),
    ...(pkceMethods !== null && { code_challenge_methods_supported: pkceMethods }),
    ...(advertisesIss && { authorization_response_iss_parameter_supported: true }),
    ...(clientDocuments && { client_id_metadata_document_supported: true }),
    ...metadata,
  };
}

/** The kind of a well-known path: RFC 8414 and OpenID with the path inserted, or OpenID with the path appended. */
function documentKind(path: string, issuerPath: string): 'oauth' | 'oidc' | undefined {
  if (path === `/.well-known/oauth-authorization-server${issuerPath}`) return 'oauth';
  const openid = '/.well-known/openid-configuration';
  return path === `${openid}${issuerPath}` || path === `${issuerPath}${openid}` ? 'oidc' : undefined;
}

type When = 'before' | 'after';

interface HoldGate extends OAuthHold {
  pass(): Promise<void>;
}

interface RequestHolds {
  open(endpoint: OAuthEndpoint, when: When): OAuthHold;
  pass(endpoint: OAuthEndpoint, when: When): Promise<void>;
  releaseAll(): void;
}

/** Holds requests until a test releases them. */
function createRequestHolds(): RequestHolds {
  const gates = new Map<string, HoldGate>();
  return {
    open(endpoint, when) {
      const gate = createHoldGate();
      gates.set(`${endpoint} ${when}`, gate);
      return gate;
    },
    async pass(endpoint, when) {
      await gates.get(`${endpoint} ${when}`)?.pass();
    },
    releaseAll: () => gates.forEach((gate) => gate.release()),
  };
}

function createHoldGate(): HoldGate {
  let isOpen = false;
  const resumers: (() => void)[] = [];
  let arrivalWaiters: { count: number; resolve: () => void }[] = [];
  return {
    get waitingCount() {
      return resumers.length;
    },
    arrived: (count = 1) =>
      resumers.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => arrivalWaiters.push({ count, resolve })),
    release() {
      isOpen = true;
      resumers.splice(0).forEach((resume) => resume());
    },
    async pass() {
      if (isOpen) return;
      await new Promise<void>((resolve) => {
        resumers.push(resolve);
        arrivalWaiters = arrivalWaiters.filter((waiter) => {
          if (resumers.length < waiter.count) return true;
          waiter.resolve();
          return false;
        });
      });
    },
  };
}

/** The recorded form of a secret. Distinguishes secrets without revealing them. */
export function oauthHash(secret: string): string {
  return `sha256:${createHash('sha256').update(secret).digest('base64url')}`;
}

const SECRETS = new Set([
  'refresh_token',
  'token',
  'code',
  'code_verifier',
  'client_secret',
  'client_assertion',
]);

/** The fields of a request without secrets. Repeated fields are all listed, because they are an error. */
function withoutSecrets(fields: URLSearchParams): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const [name, value] of fields) {
    const safe = SECRETS.has(name) ? oauthHash(value) : value;
    shown[name] = Object.hasOwn(shown, name) ? `${shown[name]} ${safe}` : safe;
  }
  return shown;
}
