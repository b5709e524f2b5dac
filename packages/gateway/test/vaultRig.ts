import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring, systemRandom, type Clock, type Fetch, type Keyring } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { openSqliteStore } from '@behalf/stores/sqlite';
import {
  createFakeClock,
  createTestNetwork,
  startAuthorizationServer,
  type AuthorizationServerOptions,
  type GrantedTokens,
} from '@behalf/testkit';
import type { GrantContext, IssuerProfile } from '../src/credentials/oauth/grantContext.ts';
import type { OAuthClient } from '../src/credentials/oauth/clientAuthentication.ts';
import type { TokenSet } from '../src/credentials/oauth/tokenEndpoint.ts';
import { type VaultTimings, createVault } from '../src/credentials/vault/createVault.ts';
import type {
  AppGrants,
  CredentialVault,
  TokenOutcome,
  VaultEvent,
  VaultParts,
  VaultToken,
} from '../src/credentials/vault/vault.ts';
import {
  credentialId,
  type CredentialKey,
  type CredentialRecord,
  type PrimaryStore,
} from '../src/ports/index.ts';

export const RESOURCE = 'https://files.example.com/mcp';
export const CLIENT_ID = 'behalf';
export const HOUR_S = 3_600;

export interface VaultRigOptions {
  readonly replicas?: number;
  readonly store?: 'memory' | 'sqlite';
  readonly authorization?: AuthorizationServerOptions;
  readonly profile?: Partial<IssuerProfile>;
  readonly timings?: Partial<VaultTimings>;
  readonly client?: OAuthClient;
}

/** What the tests set while it runs. */
export interface VaultFaults {
  /** The primary store does not answer. */
  storeDown: boolean;
  /** So many calls of a method of the credential store fail. */
  readonly failing: Map<keyof VaultParts['store'], number>;
  leasesDown: boolean;
  pendingWritesDown: boolean;
  usageFails: boolean;
}

export interface VaultReplica {
  readonly vault: CredentialVault;
  /** As SIGSTOP does: no timer fires and no answer is read, until `wake`. */
  freeze(): void;
  thaw(): void;
}

export type VaultRig = Awaited<ReturnType<typeof createVaultRig>>;

const rigs = new Set<() => Promise<void>>();

/** After every test. */
export async function closeVaultRigs(): Promise<void> {
  for (const close of rigs) await close();
  rigs.clear();
}

/** Vaults that share a store, each as a process has one, and an authorization server over real HTTP. Time is the test's. */
export async function createVaultRig({
  replicas: count = 1,
  store: kind = 'memory',
  authorization: behavior = {},
  profile = {},
  timings,
  client = { clientId: CLIENT_ID, source: 'configured', auth: { method: 'none' } },
}: VaultRigOptions = {}) {
  const clock = createFakeClock();
  const random = systemRandom;
  const server = await startAuthorizationServer({
    clients: [{ clientId: CLIENT_ID, authMethod: 'none' }],
    now: () => clock.now(),
    lifetimeS: HOUR_S,
    ...behavior,
  });
  const network = createTestNetwork([server.port]);
  const folder = kind === 'sqlite' ? mkdtempSync(join(tmpdir(), 'behalf-vault-')) : undefined;
  const primary: PrimaryStore = folder
    ? await openSqliteStore({ file: join(folder, 'behalf.db'), clock, random })
    : openMemoryStore({ clock, random });
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const faults: VaultFaults = {
    storeDown: false,
    failing: new Map(),
    leasesDown: false,
    pendingWritesDown: false,
    usageFails: false,
  };
  const logged: { event: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const events: VaultEvent[] = [];
  let inFlight = 0;

  const fullProfile: IssuerProfile = { rotationGraceMs: 0, revokeOnReplace: 'never', ...profile };
  /** What the definitions say; a test changes it. */
  const definition = {
    binding: {
      ...{ canonicalUrl: RESOURCE, issuer: server.issuer, clientId: client.clientId },
      resource: RESOURCE as string | null,
    },
    client,
    form: { resource: RESOURCE } as Readonly<Record<string, string>>,
    profile: fullProfile,
    isGone: false,
    rediscover: async (): ReturnType<GrantContext['rediscover']> => null,
    reregister: async () => false,
    appScopes: 'app',
  };
  /** Of the grants that are given from now on. */
  const endpoints = {
    token: server.endpoints.token,
    revocation: server.endpoints.revocation as string | null,
    authorization: null,
    fetchedAt: clock.now(),
  };

  function createGrantContext(fetch: Fetch): GrantContext {
    const { binding, form, profile: known } = definition;
    return {
      ...{ binding, client: definition.client, fetch, headers: {}, form, profile: known },
      rediscover: () => definition.rediscover(),
      reregister: () => definition.reregister(),
    };
  }

  const credentials = new Proxy(primary.credentials, {
    get(target, name: keyof typeof primary.credentials) {
      const method = target[name].bind(target) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        const remainingFailures = faults.failing.get(name) ?? 0;
        if (remainingFailures > 0) faults.failing.set(name, remainingFailures - 1);
        if (faults.storeDown || remainingFailures > 0) throw new Error('The store does not answer');
        return method(...args);
      };
    },
  });

  const failIf = (isDown: () => boolean, operation: string) => {
    if (isDown()) throw new Error(`${operation} do not answer`);
  };

  function startReplica(ownKeyring: Keyring = keyring): VaultReplica {
    const frozen: (() => void)[] = [];
    let isFrozen = false;
    const passWhileAwake = <T>(value: T) =>
      new Promise<T>((resolve) => {
        if (isFrozen) frozen.push(() => resolve(value));
        else resolve(value);
      });
    const replicaClock: Clock = {
      now: () => clock.now(),
      timer: (ms, fn) => clock.timer(ms, () => (isFrozen ? void frozen.push(fn) : fn())),
    };
    const upstreamFetch = network.fetchTo({ url: server.origin, audience: 'yaml-server' });
    const fetch: Fetch = async (url, init) => {
      inFlight += 1;
      const answer = await upstreamFetch(url, init).finally(() => void (inFlight -= 1));
      return passWhileAwake(answer);
    };
    const appGrants: AppGrants = {
      resolve: async () => ({ context: createGrantContext(fetch), endpoints, scopes: definition.appScopes }),
    };
    const vault = createVault({
      store: credentials,
      usage: {
        ...primary.credentialUsage,
        put: async (usage) => {
          failIf(() => faults.usageFails, 'usage rows');
          await primary.credentialUsage.put(usage);
        },
      },
      pendingWrites: {
        put: async (...args) => (
          failIf(() => faults.pendingWritesDown, 'orphans'),
          primary.pendingWrites.put(...args)
        ),
        find: async (id) => (
          failIf(() => faults.pendingWritesDown, 'orphans'),
          primary.pendingWrites.find(id)
        ),
        remove: (...args) => primary.pendingWrites.remove(...args),
      },
      leases: {
        acquire: async (...args) => (
          failIf(() => faults.leasesDown, 'leases'),
          primary.leases.acquire(...args)
        ),
        findHolder: (key) => primary.leases.findHolder(key),
      },
      changes: primary.changes,
      keyring: ownKeyring,
      clock: replicaClock,
      random,
      log: (event, fields) => void logged.push({ event, fields }),
      contexts: { resolve: async () => (definition.isGone ? 'unbound' : createGrantContext(fetch)) },
      appGrants,
      readError: (error) => network.readError(error),
      record: (event) => void events.push(event),
      ...(timings && { timings }),
    });
    vaults.push({ vault, isAwake: () => !isFrozen });
    return {
      vault,
      freeze: () => void (isFrozen = true),
      thaw() {
        isFrozen = false;
        for (const timer of frozen.splice(0)) timer();
      },
    };
  }

  const vaults: { readonly vault: CredentialVault; isAwake(): boolean }[] = [];
  const replicas = Array.from({ length: count }, () => startReplica());

  async function close(): Promise<void> {
    rigs.delete(close);
    await server.close();
    faults.storeDown = false;
    // Who is frozen died that way.
    const closePromise = Promise.all(
      vaults.filter((replica) => replica.isAwake()).map((replica) => replica.vault.close()),
    );
    await advanceUntilSettled(closePromise);
    await primary.close();
    await network.close();
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
  rigs.add(close);

  /** Lets real answers come, and time go on only where nothing else is going on. */
  async function advanceUntilSettled<T>(work: Promise<T>, stepMs = 250): Promise<T> {
    let isSettled = false;
    const markSettled = () => void (isSettled = true);
    work.then(markSettled, markSettled);
    while (!isSettled) {
      await wait(2);
      if (!isSettled && inFlight === 0) await clock.advance(stepMs);
    }
    return work;
  }

  async function signIn(
    key: CredentialKey = credentialKey(),
    overrides: Partial<TokenSet> = {},
  ): Promise<GrantedTokens> {
    const grantedTokens = server.grant({
      clientId: CLIENT_ID,
      user: key.principal,
      scope: 'read write',
      resource: RESOURCE,
    });
    const baseGeneration = (await primary.credentials.find(key))?.generation ?? 0;
    await firstVault().commit({
      ...key,
      binding: definition.binding,
      endpoints: { ...endpoints },
      tokens: { ...toTokenSet(grantedTokens), ...overrides },
      sentAt: clock.now(),
      scopesRequested: 'read write',
      baseGeneration,
    });
    return grantedTokens;
  }

  function firstVault(): CredentialVault {
    const [replica] = replicas;
    if (!replica) throw new Error('No replica');
    return replica.vault;
  }

  return {
    clock,
    server,
    store: primary,
    credentials,
    keyring,
    faults,
    definition,
    endpoints,
    replicas,
    logged,
    events,
    startReplica,
    advanceUntilSettled,
    signIn,
    close,
    get vault() {
      return firstVault();
    },
    /** As it is stored. */
    async record(key: CredentialKey = credentialKey()): Promise<CredentialRecord> {
      const found = await primary.credentials.findById(credentialId(key));
      if (!found) throw new Error('No such credential');
      return found;
    },
    outcomes: () => events.flatMap((event) => (event.kind === 'refresh' ? [event.outcome] : [])),
  };
}

export function credentialKey(user = 'alice', overrides: Partial<CredentialKey> = {}): CredentialKey {
  return {
    tenant: 'default',
    principal: `user:${user}`,
    serverId: 'files',
    kind: 'oauth_code',
    label: 'default',
    ...overrides,
  };
}

export function toTokenSet({ accessToken, refreshToken, scope, expiresInS }: GrantedTokens): TokenSet {
  return { accessToken, refreshToken, scope, expiresInS, tokenType: 'bearer' };
}

/** The token, or the outcome as an error. */
export function expectHeldToken(outcome: TokenOutcome): VaultToken {
  if (outcome.kind !== 'token') throw new Error(JSON.stringify(outcome));
  return outcome.token;
}

/** Real time, for sockets. */
export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
