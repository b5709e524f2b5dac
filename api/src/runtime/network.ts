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
import { type Settings, type Template, isMicrosoftAuthority, renderUrl } from '@behalf/settings';
import {
  type CertificateAuthorities,
  type Configuration,
  identityAddresses,
  modelAddresses,
  readCertificateAuthorities,
} from './configuration.ts';

interface NetworkParts extends Omit<EgressParts, 'settings'> {
  settings: Settings;
  /** The largest answer, and the longest line of an event stream. */
  limits: Limits;
  /** Issuers that the environment names: open to the identity client alone, as those of `identityProviders` are. */
  identityOrigins: readonly string[];
}

export interface ReloadableNetwork {
  readonly network: Network;
  /** To the login's identity provider: what is sent there is never sent on. */
  readonly identity: Fetch;
  /** The same to a provider with an authority of its own, or with a public one. */
  identityTo(provider: { readonly caFile: string | undefined }): Fetch;
  /** To where clients of our own authorization server have their documents and keys. */
  readonly documents: Fetch;
  /** To the models of the configuration, and to nobody else. */
  readonly model: Fetch;
  /** To whoever signs users in at a server. */
  readonly oauth: OAuthEgress;
  /** Throws unless a server that a user defines may have this address. */
  checkUserServerUrl(url: string): Promise<void>;
  /** New rules. What is in the air goes on for a moment under the old ones. */
  update(settings: Settings): void;
  close(): Promise<void>;
}

/** The entry of `identityProviders` that speaks of the login. */
const LOGIN_PROVIDER = 'login';

/** What the operator did not write down is judged as if a user had: what is open to this file's servers alone stays closed. */
const UNTRUSTED_AUDIENCE = 'user-server';

/** No authority: nobody has a certificate of it. */
const NO_AUTHORITY = '';

/** How long a request may take is decided where it is known what is asked, not by the door out. */
const NO_TIMEOUT_MS = Infinity;

const identityOptions: FetchOptions = {
  audience: 'identity',
  // Where a token or a secret is sent, a redirect is an attack.
  redirects: 'refuse',
  timeouts: { headersMs: 10_000, totalMs: 10_000, idleMs: 10_000 },
  limits: { bodyBytes: 1024 * 1024 },
};

/** Metadata and token answers are small, and nobody waits longer than this for one. */
const oauthLimits = {
  timeouts: { headersMs: 10_000, totalMs: 10_000, idleMs: 10_000 },
  limits: { bodyBytes: 256 * 1024 },
} as const satisfies Partial<FetchOptions>;

/** Anybody names the address: it is judged as that of a user's server, and little is read of it. */
const documentOptions: FetchOptions = {
  audience: UNTRUSTED_AUDIENCE,
  redirects: 'refuse',
  timeouts: { headersMs: 5_000, totalMs: 5_000, idleMs: 5_000 },
  limits: { bodyBytes: 64 * 1024 },
};

const modelOptions: FetchOptions = {
  audience: 'model',
  // What is said in a chat, and the key of the model, go where the file says.
  redirects: 'refuse',
  // A model thinks before it speaks. A stream that speaks is as long as it is; what is no stream has this long.
  timeouts: { headersMs: 120_000, totalMs: 180_000, idleMs: 120_000 },
  limits: { bodyBytes: 4 * 1024 * 1024, sseLineBytes: 1024 * 1024 },
};

/** The door out as the gateway's parts hold it: one name for it, whatever configuration runs. */
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

  /** A file that nobody could read does not make the public authorities count. */
  function certificateAuthorityOf(caFile: string | undefined): string | undefined {
    return caFile === undefined ? undefined : (rules.authorities.get(caFile) ?? NO_AUTHORITY);
  }

  function optionsOf({ audience, proxy, caFile, type, sseReadTimeoutMs }: RemoteTarget): FetchOptions {
    // Over sse the one long stream is all there is; its silence is the end of the conversation.
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

  /** Looked up again only after a change of the rules: this stands on the way of every call. */
  function sendTo(target: RemoteTarget): Send {
    let cached = { doors: clients, send: clientFor(target).send };
    return (request) => {
      if (cached.doors !== clients) cached = { doors: clients, send: clientFor(target).send };
      return cached.send(request);
    };
  }

  /** A request meets the rules by itself; a socket that stays open is judged when it opens and when they change. */
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
      // A name that cannot be resolved just now is no verdict.
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

  /** The certificate that the definition speaks of is the server's: another host has one of the public authorities. */
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
      // Calls that run for long would be cut off for nothing.
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

/** What of a configuration the door out goes by. */
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

/** Undefined where a value of a user stands in it: then nothing is taken for the server's own. */
function originOfTemplate(template: Template): string | undefined {
  const rendered = renderUrl(template, {});
  return rendered.ok ? parseUrl(rendered.text)?.origin : undefined;
}

function serializeRules({ egress, authorities, loginCaFile, documentCaFile }: Rules): string {
  return JSON.stringify([egress, [...authorities].sort(), loginCaFile, documentCaFile]);
}

/** What the door out says, in the words of a diagnosis. Reasons that only an answer can have count as no connection. */
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

/** The door out as a diagnosis looks through it: the verdicts and the sockets that calls get. */
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
    // It is the server's own address that is looked at.
    checkAddress: (server, { url }) => problemOf(egress.oauth.checkUrl(server, url, [new URL(url).origin])),
    connect: (target, signal) =>
      problemOf(
        egress.network.connectTo(target, signal).then((socket) => {
          // Nothing was said on it, and whatever it still has to say is nobody's.
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
 * The issuers of the login and of `identityProviders` whose endpoints stand nowhere but in their metadata. They may be on another
 * host than the issuer, and are guarded there. Entra goes by its hosts, whatever its metadata says.
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
