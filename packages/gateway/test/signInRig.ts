import type { OAuthIssuer } from '@behalf/contracts';
import { createEgress, EgressError, getEgressErrorCode, systemDial, type Audience } from '@behalf/egress';
import { createKeyring, systemClock, systemRandom, type Clock, type Dial } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import {
  aPrincipal,
  guardedMcpServer,
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
  type GuardSwitches,
} from '@behalf/testkit';
import type { AuditEvent } from '../src/audit/audit.ts';
import {
  createOAuthServices,
  type OAuthServices,
  type OAuthServicesParts,
} from '../src/credentials/signin/createOAuthServices.ts';
import type { CallbackResult } from '../src/credentials/signin/callback.ts';
import type { OpenFlowResult } from '../src/credentials/signin/open.ts';
import type { StartedFlow, StartOptions } from '../src/credentials/signin/start.ts';
import type { OAuthEgress } from '../src/credentials/oauth/network.ts';
import { credentialHolder } from '../src/principal/credentialHolder.ts';
import { createVault } from '../src/credentials/vault/createVault.ts';
import type { CredentialVault } from '../src/credentials/vault/vault.ts';
import type { Cache, CredentialKey, PrimaryStore } from '../src/ports/index.ts';
import type { UserPrincipal } from '../src/principal/principal.ts';
import type { RegistryLayers } from '../src/servers/registry.ts';
import type { StoredDefinition } from '../src/servers/stored.ts';
import type { AllowedServer } from '../src/access/allowedServer.ts';
import { ownedByApp, type AppBearer } from '../src/upstream/target.ts';
import { withoutRenewal } from './bearerRig.ts';
import { createRegistryRig, createStoredDefinition } from './registryRig.ts';

export interface SignInRigOptions {
  /** Of the file. */
  readonly servers?: Record<string, unknown>;
  /** Of users: name and definition. */
  readonly stored?: Record<string, unknown>;
  readonly issuers?: Record<string, Partial<OAuthIssuer>>;
  readonly identityUrls?: readonly string[];
  readonly identity?: OAuthServicesParts['identity'];
  readonly timeouts?: OAuthServicesParts['durations'];
  readonly detectionMs?: number;
  /** Laid over servers of the file. */
  readonly overrides?: RegistryLayers['overrides'];
  readonly baseUrl?: string;
  readonly probe?: OAuthServicesParts['probe'];
  readonly readText?: OAuthServicesParts['readText'];
  /** Opens the way to these ports of loopback. */
  readonly ports?: readonly number[];
  readonly network?: OAuthEgress;
  readonly store?: PrimaryStore;
  /** The memory store has a cache of its own for everybody who opens it. */
  readonly cache?: Cache;
  readonly clock?: OffsetClock;
}

export interface OffsetClock extends Clock {
  advance(ms: number): void;
}

/** Timers as they are, and a time that a test can move. */
export function createOffsetClock(): OffsetClock {
  let offsetMs = 0;
  return {
    now: () => systemClock.now() + offsetMs,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    advance: (ms) => void (offsetMs += ms),
  };
}

export interface RecordingNetwork extends OAuthEgress {
  /** Every address that was dialled: `127.0.0.1:4711`. */
  readonly dialedAddresses: readonly string[];
  close(): Promise<void>;
}

/** The real door out. Names lead where `resolve` says; what is dialled is written down, and only loopback really is. */
export function createRecordingNetwork(
  ports: readonly number[],
  resolve: (name: string) => readonly string[] = () => [],
  operatorAddresses: readonly string[] = [],
): RecordingNetwork {
  const dialedAddresses: string[] = [];
  const dial: Dial = (target, signal) => {
    dialedAddresses.push(`${target.address}:${target.port}`);
    if (target.address !== '127.0.0.1') return Promise.reject(new Error('ECONNREFUSED'));
    return systemDial(target, signal);
  };
  const egress = createEgress({
    clock: systemClock,
    keyring: createKeyring([new Uint8Array(32).fill(7)], systemRandom),
    settings: {
      allowedAddresses: ports.flatMap((port) => [`127.0.0.1:${port}`, `localhost:${port}`]),
      operatorAddresses,
    },
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: () => [] }),
    env: {},
    resolve: async (name) => (name === 'localhost' ? ['127.0.0.1'] : resolve(name)),
    dial,
  });
  return {
    dialedAddresses,
    fetchFor:
      ({ audience }, vouchedAddresses) =>
      (url, init) =>
        egress.fetchFor({ audience: audienceOf(url, audience, vouchedAddresses) })(url, init),
    checkUrl: async ({ audience }, url, vouchedAddresses) =>
      void (await egress.checkTarget(url, audienceOf(url, audience, vouchedAddresses))),
    readError: (error) =>
      error instanceof EgressError
        ? { code: getEgressErrorCode(error), requestSent: error.requestSent }
        : undefined,
    close: () => egress.close(0),
  };
}

function audienceOf(url: string | URL, audience: Audience, vouchedAddresses: readonly string[]): Audience {
  return vouchedAddresses.includes(new URL(url).origin) ? audience : 'user-server';
}

/** What a browser does at the authorization server: where it is sent back to. */
export async function followRedirect(url: string): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' });
  await response.body?.cancel();
  return new URL(response.headers.get('location') ?? 'about:blank');
}

const openRigs = new Set<() => Promise<void>>();

/** After every test. */
export async function closeSignInRigs(): Promise<void> {
  for (const close of openRigs) await close();
  openRigs.clear();
}

export type SignInRig = ReturnType<typeof createSignInRig>;

/** Sign-ins as one process has them. Two rigs with one store are two replicas. */
export function createSignInRig(options: SignInRigOptions = {}) {
  const { servers = {}, baseUrl = 'http://localhost:3080', identityUrls = [], ports = [] } = options;
  const clock = options.clock ?? createOffsetClock();
  const random = systemRandom;
  const store = options.store ?? openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const cache = options.cache ?? store.cache('issuers');
  const ownNetwork = options.network ? undefined : createRecordingNetwork(ports);
  const network = options.network ?? ownNetwork!;
  const definitions = Object.entries(options.stored ?? {}).map(
    ([name, definition], index): StoredDefinition =>
      createStoredDefinition({ id: `id-${index + 1}`, name, definition: definition as object }),
  );
  const issuerSettings = options.issuers && { mcpSettings: { issuers: options.issuers } };
  const { registry, logged: registryLog } = createRegistryRig(
    servers,
    { stored: definitions, ...(options.overrides && { overrides: options.overrides }) },
    { extraSettings: issuerSettings ?? {}, createAppBearer },
  );
  const issuers = createIssuerSettings(issuerSettings);
  const logged: { event: string; reason: unknown }[] = [];
  const events: AuditEvent[] = [];
  const probedServers: string[] = [];
  const log = (event: string, fields: Readonly<Record<string, unknown>>) =>
    void logged.push({ event, reason: fields['reason'] });

  /** Each of the two needs the other. */
  const lateBound: { oauth?: OAuthServices } = {};
  const vault: CredentialVault = createVault({
    store: store.credentials,
    usage: store.credentialUsage,
    ...{ pendingWrites: store.pendingWrites, leases: store.leases, changes: store.changes },
    ...{ keyring, clock, random, log },
    contexts: { resolve: async (record) => (await lateBound.oauth?.contexts.resolve(record)) ?? 'unbound' },
    appGrants: { resolve: async (key) => (await lateBound.oauth?.appGrants.resolve(key)) ?? null },
    readError: network.readError,
    record: () => undefined,
  });
  const oauthParts = createOAuthServices({
    flows: store.oauthFlows,
    oauthClients: store.oauthClients,
    credentials: store.credentials,
    vault,
    servers: {
      get: (tenant, id) => registry.get(tenant, id),
      all: () => registry.listAll(),
      readHolderValues: async () => ({}),
    },
    network,
    leases: store.leases,
    attempts: store.attempts,
    changes: store.changes,
    cache,
    identity: options.identity ?? { list: () => [], endpointsOf: () => Promise.resolve([]) },
    audit: { note: (event) => void events.push(event) },
    readText: options.readText ?? (() => Promise.reject(new Error('no such file'))),
    issuerSettings: () => ({ issuers, identityUrls }),
    ...{ keyring, clock, random, log },
    durations: options.timeouts ?? { pendingMs: 10 * 60 * 1000, retentionMs: 15 * 60 * 1000 },
    detectionTimeoutMs: options.detectionMs ?? 5_000,
    baseUrl: () => baseUrl,
    probe:
      options.probe ??
      ((server) => {
        probedServers.push(server.name);
        return Promise.resolve('ok');
      }),
  });
  lateBound.oauth = oauthParts;
  openRigs.add(async () => {
    await vault.close();
    await ownNetwork?.close();
  });

  const allowedServer = (name: string): AllowedServer => {
    const server = registry.find('default', name);
    if (!server) throw new Error(`No server ${name}: ${registryLog.join('; ')}`);
    return server as AllowedServer;
  };
  const cookies = new Map<string, string>();

  /** What one browser does, from its start to the authorization server. */
  async function startSignIn(
    name: string,
    startOptions: { principal?: UserPrincipal; options?: StartOptions } = {},
  ): Promise<StartedSignIn> {
    const principal = startOptions.principal ?? aPrincipal();
    const started = await oauthParts.flows.start(allowedServer(name), principal, {
      bindsBrowser: true,
      ...startOptions.options,
    });
    const { flowId } = started.flow;
    const flowRequest = { flowId, serverName: name, principal, browserSecret: started.browserSecret ?? null };
    let opened = await oauthParts.flows.open(flowRequest);
    if (opened.kind === 'ask')
      opened = await oauthParts.flows.confirm({ ...flowRequest, token: opened.token });
    cookies.set(flowId, opened.browserSecret);
    return { started, opened, principal, flowId };
  }

  /** What the authorization server sent the browser back with. */
  function finishSignIn(
    callbackUrl: URL,
    principal: UserPrincipal | null = aPrincipal(),
  ): Promise<CallbackResult> {
    const [, , , name = ''] = callbackUrl.pathname.split('/');
    return oauthParts.flows.finish({
      serverName: decodeURIComponent(name),
      query: callbackUrl.searchParams,
      principal,
      browserSecretOf: (flowId) => cookies.get(flowId) ?? null,
    });
  }

  const keyOf = (name: string, overrides: Partial<CredentialKey> = {}): CredentialKey => ({
    tenant: 'default',
    principal: credentialHolder(aPrincipal()),
    serverId: allowedServer(name).id,
    kind: 'oauth_code',
    label: 'default',
    ...overrides,
  });

  return {
    ...{ oauth: oauthParts, flows: oauthParts.flows, vault, store, registry, clock, network },
    ...{ logged, events, probed: probedServers, cookies, allowedServer, startSignIn, finishSignIn, keyOf },
    reasons: () => logged.map(({ reason }) => reason),
    /** The whole way. */
    signIn: async (
      name: string,
      startOptions: { principal?: UserPrincipal; options?: StartOptions } = {},
    ): Promise<CallbackResult & { flowId: string }> => {
      const { opened, flowId, principal } = await startSignIn(name, startOptions);
      return { ...(await finishSignIn(await followRedirect(opened.url), principal)), flowId };
    },
  };
}

export interface SignInServerRigOptions extends Omit<
  SignInRigOptions,
  'servers' | 'ports' | 'issuers' | 'network'
> {
  /** Where names lead that are not of this machine. */
  readonly resolve?: (name: string) => readonly string[];
  readonly authorization?: AuthorizationServerOptions;
  readonly guard?: Partial<GuardSwitches>;
  /** Laid over the definition of `files`. */
  readonly definition?: (as: AuthorizationServer) => Record<string, unknown>;
  /** Where `files` is reached, from where it really is. */
  readonly mapUrl?: (url: string) => string;
  /** What the operator says of the authorization server. */
  readonly issuer?: Partial<OAuthIssuer>;
  /** The way to these ports of loopback is open as well. */
  readonly morePorts?: readonly number[];
  /** The way to the two servers, and to these ports of loopback, is open to servers of the file alone. */
  readonly operatorPorts?: readonly number[];
  /** `files` is a user's and not the operator's. */
  readonly isStored?: boolean;
  /** Further servers of the file. */
  readonly otherServers?: (at: { readonly issuer: string; readonly url: string }) => Record<string, unknown>;
}

/** A rotating authorization server, an MCP server `files` that wants its tokens, and us. */
export async function createSignInServerRig(options: SignInServerRigOptions = {}) {
  const {
    authorization,
    guard,
    definition,
    mapUrl = (url) => url,
    issuer,
    isStored = false,
    otherServers,
    morePorts = [],
    operatorPorts,
    resolve,
    ...rest
  } = options;
  const as = await startAuthorizationServer(authorization);
  const mcp = await guardedMcpServer({
    authorizationServer: as,
    era: 'modern',
    tools: [],
    ...(guard && { guard }),
  });
  openRigs.add(async () => {
    await as.close();
    await mcp.close();
  });
  const files = {
    type: 'streamable-http',
    url: mapUrl(mcp.url),
    ...(!isStored && { requiresOAuth: true }),
    ...definition?.(as),
  };
  const publicPorts = operatorPorts ? [] : [as.port, mcp.port];
  const operatorAddresses = operatorPorts ? [as.port, mcp.port, ...operatorPorts] : [];
  const network = createRecordingNetwork(
    [...publicPorts, ...morePorts],
    resolve,
    operatorAddresses.map((port) => `127.0.0.1:${port}`),
  );
  openRigs.add(() => network.close());
  const rigOptions: SignInRigOptions = {
    network,
    servers: { ...(!isStored && { files }), ...otherServers?.({ issuer: as.issuer, url: mcp.url }) },
    ...(isStored && { stored: { files } }),
    ...(issuer && { issuers: { [as.issuer]: issuer } }),
    ...rest,
  };
  const rig = createSignInRig(rigOptions);
  /** Another process with the same store. */
  const replica = () => createSignInRig({ ...rigOptions, store: rig.store, clock: rig.clock });
  return { as, mcp, ...rig, network, replica };
}

export interface StartedSignIn {
  readonly started: StartedFlow;
  readonly opened: Extract<OpenFlowResult, { kind: 'leave' }>;
  readonly principal: UserPrincipal;
  readonly flowId: string;
}

/** Nothing is called with it here. */
const createAppBearer = (): AppBearer => ({ ...withoutRenewal, token: () => 'ours', [ownedByApp]: true });

/** As the configuration has them, with their defaults. */
function createIssuerSettings(
  issuerSettings: { mcpSettings: { issuers: Record<string, Partial<OAuthIssuer>> } } | undefined,
) {
  const defaults: OAuthIssuer = {
    pkce: 'required',
    rotationGraceSeconds: 0,
    revokeOnReplace: 'never',
    origins: [],
    endpointOrigins: [],
  };
  return Object.fromEntries(
    Object.entries(issuerSettings?.mcpSettings.issuers ?? {}).map(([issuer, entry]) => [
      issuer,
      { ...defaults, ...entry },
    ]),
  );
}
