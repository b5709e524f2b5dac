import type { Duplex } from 'node:stream';
import { type Env, parseUrl } from '@behalf/contracts';
import {
  type Egress,
  EgressError,
  type EgressParts,
  type EgressReason,
  type EgressSettings,
  type FetchOptions,
  type Limits,
  createEgress,
  getEgressErrorCode,
} from '@behalf/egress';
import {
  type DiagnosisNetwork,
  GatewayError,
  type Network,
  type NetworkProblem,
  type OAuthEgress,
  type OAuthServicesParts,
  type ReadNetworkError,
  type RemoteTarget,
  type ServerSnapshot,
} from '@behalf/gateway';
import type { Clock, Fetch, Send } from '@behalf/kernel';
import {
  LOGIN_PROVIDER,
  type Settings,
  type Template,
  isMicrosoftAuthority,
  renderUrl,
} from '@behalf/settings';
import {
  type CertificateAuthorities,
  type Configuration,
  identityAddresses,
  modelAddresses,
  readCertificateAuthorities,
} from './configuration.ts';

interface NetworkParts extends Omit<EgressParts, 'settings'> {
  settings: Settings;
  /** The maximum response size, and the maximum length of a line in an event stream. */
  limits: Limits;
  /** Issuers from environment variables. Only the identity client may reach them, as those of `identityProviders`. */
  identityOrigins: readonly string[];
}

export interface ReloadableNetwork {
  readonly network: Network;
  /** The identity provider of the login. Redirects are refused. */
  readonly identity: Fetch;
  /** Another identity provider, with its own CA file or the public CAs. */
  identityTo(provider: { readonly caFile: string | undefined }): Fetch;
  /** Metadata documents and keys of clients of the gateway's authorization server. */
  readonly documents: Fetch;
  /** The configured chat models only. */
  readonly model: Fetch;
  /** Authorization servers of MCP servers. */
  readonly oauth: OAuthEgress;
  /** Throws if a server that a user defines must not have this URL. */
  checkUserServerUrl(url: string): Promise<void>;
  /** Applies new rules. Requests in flight finish under the old ones. */
  update(settings: Settings): void;
  close(): Promise<void>;
}

/**
 * URLs that the operator did not configure are checked like URLs of user-defined servers: addresses that are open to the
 * servers of the configuration file stay closed.
 */
const UNTRUSTED_AUDIENCE = 'user-server';

/** An empty CA list: no certificate is trusted. */
const NO_AUTHORITY = '';

/** Timeouts of requests to MCP servers are set by the caller, not by egress. */
const NO_TIMEOUT_MS = Infinity;

const identityOptions: FetchOptions = {
  audience: 'identity',
  // Requests contain tokens and secrets, so redirects are refused.
  redirects: 'refuse',
  timeouts: { headersMs: 10_000, totalMs: 10_000, idleMs: 10_000 },
  limits: { bodyBytes: 1024 * 1024 },
};

/** Metadata and token responses are small, and sign-ins wait for them. */
const oauthLimits = {
  timeouts: { headersMs: 10_000, totalMs: 10_000, idleMs: 10_000 },
  limits: { bodyBytes: 256 * 1024 },
} as const satisfies Partial<FetchOptions>;

/** Clients choose these URLs, so they are checked like those of user-defined servers, with small limits. */
const documentOptions: FetchOptions = {
  audience: UNTRUSTED_AUDIENCE,
  redirects: 'refuse',
  timeouts: { headersMs: 5_000, totalMs: 5_000, idleMs: 5_000 },
  limits: { bodyBytes: 64 * 1024 },
};

const modelOptions: FetchOptions = {
  audience: 'model',
  // Requests contain the conversation and the API key of the model, so redirects are refused.
  redirects: 'refuse',
  // Models respond slowly. A stream has no total timeout; another response must be complete within `totalMs`.
  timeouts: { headersMs: 120_000, totalMs: 180_000, idleMs: 120_000 },
  limits: { bodyBytes: 4 * 1024 * 1024, sseLineBytes: 1024 * 1024 },
};

/**
 * The network access of all components. References stay valid when the rules change: each client looks up the current egress.
 *
 * Invariants:
 * - Every request and every socket passes the guard of `packages/egress` under the current rules.
 * - Open sockets are checked again when the rules change.
 * - An unreadable `caFile` trusts no certificate; it never falls back to the public CAs.
 */
export function createNetwork(parts: NetworkParts): ReloadableNetwork {
  const { identityOrigins } = parts;
  let rules = toRules(parts.settings, identityOrigins);
  let egress = openEgress(rules.egress);
  let clients = new Map<string, { send: Send; fetch: Fetch }>();
  const closing = new Set<Promise<void>>();
  const sockets = new Map<Duplex, { readonly target: RemoteTarget; readonly ca: string | undefined }>();

  function openEgress(settings: EgressSettings): Egress {
    return createEgress({ ...parts, settings });
  }

  /** If a CA file cannot be read, no certificate is trusted. Falling back to the public CAs would weaken the check. */
  function certificateAuthorityOf(caFile: string | undefined): string | undefined {
    return caFile === undefined ? undefined : (rules.authorities.get(caFile) ?? NO_AUTHORITY);
  }

  function optionsOf({ audience, proxy, caFile, type, sseReadTimeoutMs }: RemoteTarget): FetchOptions {
    // With the sse transport, all responses arrive on one stream, so its silence means that the connection is lost.
    const idleMs = type === 'sse' ? sseReadTimeoutMs : NO_TIMEOUT_MS;
    return {
      audience,
      proxy,
      ca: certificateAuthorityOf(caFile),
      timeouts: { headersMs: NO_TIMEOUT_MS, totalMs: NO_TIMEOUT_MS, idleMs },
      limits: parts.limits,
    };
  }

  function clientFor(target: RemoteTarget): { send: Send; fetch: Fetch } {
    const options = optionsOf(target);
    const { audience, proxy = null, caFile = null } = target;
    const key = JSON.stringify([audience, proxy, caFile, options.timeouts]);
    let client = clients.get(key);
    if (!client) {
      client = { send: egress.sendFor(options), fetch: egress.fetchFor(options) };
      clients.set(key, client);
    }
    return client;
  }

  /** Looks up the client again only after the rules changed, because this is on the hot path. */
  function sendTo(target: RemoteTarget): Send {
    let cached = { doors: clients, send: clientFor(target).send };
    return (request) => {
      if (cached.doors !== clients) cached = { doors: clients, send: clientFor(target).send };
      return cached.send(request);
    };
  }

  /** Requests are checked individually. A socket is checked when it opens and again whenever the rules change. */
  async function connectTo(target: RemoteTarget, signal: AbortSignal): Promise<Duplex> {
    const currentEgress = egress;
    const options = optionsOf(target);
    const socket = await currentEgress.connect(target.url, options, signal);
    const openSocket = { target, ca: options.ca };
    sockets.set(socket, openSocket);
    socket.once('close', () => sockets.delete(socket));
    if (currentEgress !== egress) await recheckSocket(socket, openSocket);
    return socket;
  }

  async function recheckSocket(
    socket: Duplex,
    { target, ca }: { target: RemoteTarget; ca: string | undefined },
  ): Promise<void> {
    const { url, audience, caFile } = target;
    if (certificateAuthorityOf(caFile) !== ca) {
      socket.destroy();
      throw new EgressError('certificate_untrusted', new URL(url).hostname);
    }
    try {
      await egress.checkTarget(url, audience);
    } catch (error) {
      // A temporary DNS failure is no reason to close the socket.
      if (!(error instanceof EgressError) || getEgressErrorCode(error) !== 'MCP_DOMAIN_NOT_ALLOWED') return;
      socket.destroy();
      throw error;
    }
  }

  function identityTo(caFile: () => string | undefined): Fetch {
    return createFetch(() => ({ ...identityOptions, ca: certificateAuthorityOf(caFile()) }));
  }

  function createFetch(options: () => FetchOptions): Fetch {
    let cached: { egress: Egress; fetch: Fetch } | undefined;
    return (url, init) => {
      if (cached?.egress !== egress) {
        cached = { egress, fetch: egress.fetchFor(options()) };
      }
      return cached.fetch(url, init);
    };
  }

  /** Only the origin of the MCP server uses the `caFile` of its definition. Other hosts need a public certificate. */
  function oauthFetch({ audience, settings }: ServerSnapshot, trustedOrigins: readonly string[]): Fetch {
    if (settings.type === 'stdio') throw new TypeError('A stdio server has no OAuth sign-in');
    const proxy = 'proxy' in settings ? settings.proxy : undefined;
    const common = { ...oauthLimits, proxy };
    const ownFetch = createFetch(() => ({
      ...common,
      audience,
      ca: certificateAuthorityOf(settings.caFile),
    }));
    const trustedFetch = createFetch(() => ({ ...common, audience }));
    const untrustedFetch = createFetch(() => ({ ...common, audience: UNTRUSTED_AUDIENCE }));
    const origin = originOfTemplate(settings.url);
    return (url, init) => {
      const targetOrigin = new URL(url).origin;
      if (!trustedOrigins.includes(targetOrigin)) return untrustedFetch(url, init);
      return (targetOrigin === origin ? ownFetch : trustedFetch)(url, init);
    };
  }

  const readError: ReadNetworkError = (error) =>
    error instanceof EgressError
      ? { code: getEgressErrorCode(error), requestSent: error.requestSent }
      : undefined;

  function startClose(old: Egress): void {
    const closed: Promise<void> = old.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }

  return {
    network: {
      sendTo,
      fetchTo: (target) => (url, init) => clientFor(target).fetch(url, init),
      connectTo,
      readError,
    },
    identity: identityTo(() => rules.loginCaFile),
    identityTo: ({ caFile }) => identityTo(() => caFile),
    documents: createFetch(() => ({ ...documentOptions, ca: certificateAuthorityOf(rules.documentCaFile) })),
    model: createFetch(() => modelOptions),
    oauth: {
      fetchFor: oauthFetch,
      checkUrl: async ({ audience }, url, trustedOrigins) => {
        const isTrusted = trustedOrigins.includes(new URL(url).origin);
        await egress.checkTarget(url, isTrusted ? audience : UNTRUSTED_AUDIENCE);
      },
      readError,
    },
    async checkUserServerUrl(url) {
      try {
        await egress.checkTarget(url, 'user-server');
      } catch (error) {
        if (!(error instanceof EgressError)) throw error;
        const code = getEgressErrorCode(error);
        throw new GatewayError(code === 'MCP_DOMAIN_NOT_ALLOWED' ? code : 'MCP_INSPECTION_FAILED');
      }
    },
    update(settings) {
      const next = toRules(settings, identityOrigins);
      // Unchanged rules keep the connections of long calls open.
      if (serializeRules(next) === serializeRules(rules)) return;
      const old = egress;
      egress = openEgress(next.egress);
      rules = next;
      clients = new Map();
      startClose(old);
      for (const [socket, openSocket] of sockets) recheckSocket(socket, openSocket).catch(() => undefined);
    },
    async close() {
      startClose(egress);
      await Promise.allSettled(closing);
    },
  };
}

/** The part of the configuration that egress depends on. */
interface Rules {
  readonly egress: EgressSettings;
  readonly authorities: CertificateAuthorities;
  readonly loginCaFile: string | undefined;
  readonly documentCaFile: string | undefined;
}

function toRules(settings: Settings, issuers: readonly string[]): Rules {
  const { allowedDomains = [], allowedAddresses = [], operatorAddresses = [] } = settings.mcpSettings;
  const identityOrigins = [...issuers, ...identityAddresses(settings).map(({ url }) => url)];
  const modelOrigins = modelAddresses(settings).map(({ url }) => url);
  return {
    egress: { allowedDomains, allowedAddresses, operatorAddresses, identityOrigins, modelOrigins },
    authorities: readCertificateAuthorities(settings).authorities,
    loginCaFile: settings.identityProviders.find(({ name }) => name === LOGIN_PROVIDER)?.caFile,
    documentCaFile: settings.authorizationServer?.caFile,
  };
}

/** Undefined if the origin contains a user variable. Then no origin is treated as the server’s own. */
function originOfTemplate(template: Template): string | undefined {
  const rendered = renderUrl(template, {});
  return rendered.ok ? parseUrl(rendered.text)?.origin : undefined;
}

function serializeRules({ egress, authorities, loginCaFile, documentCaFile }: Rules): string {
  return JSON.stringify([egress, [...authorities].sort(), loginCaFile, documentCaFile]);
}

/** Maps egress errors to diagnosis results. Errors of a response count as `connection`. */
const problems: Partial<Record<EgressReason, NetworkProblem>> = {
  bad_url: 'not_allowed',
  domain_not_allowed: 'not_allowed',
  blocked_name: 'not_allowed',
  private_address: 'not_allowed',
  gateway_address: 'gateway_address',
  dns_failed: 'dns',
  certificate_untrusted: 'certificate',
  proxy_refused: 'proxy',
  connect_timeout: 'timeout',
};

/** The network checks of a diagnosis, with the same rules and sockets as calls. */
export function createDiagnosisNetwork(
  egress: Pick<ReloadableNetwork, 'network' | 'oauth'>,
): DiagnosisNetwork {
  async function problemOf(work: Promise<unknown>): Promise<NetworkProblem | null> {
    try {
      await work;
      return null;
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return problems[error.reason] ?? 'connection';
    }
  }

  return {
    // The origin under test is the server’s own, so it is trusted as such.
    checkAddress: (server, { url }) => problemOf(egress.oauth.checkUrl(server, url, [new URL(url).origin])),
    connect: (target, signal) =>
      problemOf(
        egress.network.connectTo(target, signal).then((socket) => {
          socket.on('error', () => undefined).destroy();
        }),
      ),
  };
}

const ENDPOINTS = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint'] as const;

interface IdentityIssuerParts {
  env: Env;
  configuration: Configuration;
  egress: Pick<ReloadableNetwork, 'identity' | 'identityTo'>;
  clock: Clock;
}

/**
 * The issuers of the login and of `identityProviders` whose endpoints are known only from their metadata. The endpoints may
 * be on another host than the issuer; tokens of the gateway are protected there as well. Entra is recognized by its hosts
 * instead.
 */
export function createIdentityIssuers(parts: IdentityIssuerParts): OAuthServicesParts['identity'] {
  const { env, configuration, egress, clock } = parts;
  const findProvider = (issuer: string) =>
    configuration.current().identityProviders.find((provider) => provider.issuer === issuer);
  return {
    list() {
      const login = env.OPENID_ISSUER === undefined ? [] : [env.OPENID_ISSUER];
      const fromProviders = configuration
        .current()
        .identityProviders.flatMap(({ issuer, tokenEndpoint }) =>
          issuer === undefined || tokenEndpoint !== undefined ? [] : [issuer],
        );
      return [...new Set([...login, ...fromProviders])].filter((issuer) => !isMicrosoftAuthority(issuer));
    },
    async endpointsOf(issuer) {
      const { createProviderMetadata } = await import('@behalf/gateway/openid');
      const fetch =
        issuer === env.OPENID_ISSUER
          ? egress.identity
          : egress.identityTo({ caFile: findProvider(issuer)?.caFile });
      const source = createProviderMetadata({ settings: { issuer }, fetch, clock, log: () => undefined });
      const { document } = await source.current();
      return ENDPOINTS.map((name) => document[name]).filter((url) => typeof url === 'string');
    },
  };
}
