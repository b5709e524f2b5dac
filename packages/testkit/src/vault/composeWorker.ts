import type { CredentialVault, GrantContext } from '@behalf/gateway';
import type { CredentialKey } from '@behalf/gateway/ports';
import { createVault } from '@behalf/gateway/vault';
import { type Fetch, createKeyring, systemRandom } from '@behalf/kernel';
import { openCoordination, openPrimary } from '@behalf/stores/open';
import { createTestNetwork } from '../mcp/testNetwork.ts';
import {
  type CallsCommand,
  type CallsReport,
  type VaultCommands,
  type VaultSpec,
  createRigClock,
} from './vaultSpec.ts';

export interface WorkerParts {
  readonly commands: VaultCommands;
  /** Closes like the gateway: operations in progress finish first. */
  close(): Promise<void>;
}

const SERVER = 'storm';

function keyOf(user: string): CredentialKey {
  return {
    tenant: 'default',
    principal: `user:${user}`,
    serverId: SERVER,
    kind: 'oauth_code',
    label: 'default',
  };
}

/** The real stores, egress and vault, composed as in the gateway. */
export async function composeWorker(spec: VaultSpec): Promise<WorkerParts> {
  const clock = createRigClock(spec.aheadMs, spec.skewMs);
  const random = systemRandom;
  const primary = await openPrimary(spec.stores, { clock, random });
  const coordination = await openCoordination(spec.stores, primary, { clock, random });
  const network = createTestNetwork(spec.ports);
  const gate = createSendGate(network.fetchTo({ url: spec.issuer, audience: 'yaml-server' }));
  let failsSaves = false;
  const vault = createVault({
    store: {
      ...primary.credentials,
      replace: async (...args) => {
        if (failsSaves) throw new Error('The store does not answer');
        return primary.credentials.replace(...args);
      },
    },
    usage: primary.credentialUsage,
    pendingWrites: coordination.pendingWrites,
    leases: coordination.leases,
    changes: coordination.changes,
    keyring: createKeyring([Buffer.from(spec.sealingKey, 'hex')], random),
    clock,
    random,
    log: (event, fields) => process.stderr.write(`${event} ${JSON.stringify(fields)}\n`),
    contexts: { resolve: async () => contextOf(spec, gate.fetch) },
    readError: (error) => network.readError(error),
    record: (event) => process.stderr.write(`event ${JSON.stringify(event)}\n`),
    timings: spec.timings,
  });
  const calls = createWorkerCalls({
    vault,
    fetch: network.fetchTo({ url: spec.resource, audience: 'yaml-server' }),
    url: spec.resource,
    keyOf,
  });

  return {
    commands: {
      calls,
      commit: ({ user, tokens, sentAt, baseGeneration }) =>
        vault.commit({
          ...keyOf(user),
          binding: bindingOf(spec),
          endpoints: {
            token: spec.tokenEndpoint,
            revocation: spec.revocationEndpoint,
            authorization: null,
            fetchedAt: sentAt,
          },
          tokens: {
            accessToken: tokens.accessToken,
            tokenType: 'bearer',
            refreshToken: tokens.refreshToken,
            expiresInS: tokens.expiresInS,
            scope: tokens.scope,
          },
          sentAt,
          scopesRequested: tokens.scope,
          baseGeneration,
        }),
      async token(user) {
        const outcome = await vault.token(keyOf(user));
        return outcome.kind === 'token' ? 'token' : describeFailure(outcome);
      },
      status: (user) => statusOf(vault, user),
      holdSends: async () => gate.hold(),
      releaseSends: async () => gate.release(),
      heldSends: async () => gate.waitingCount,
      failSaves: async () => void (failsSaves = true),
      setAhead: async (ms) => clock.setAhead(ms),
    },
    async close() {
      gate.release();
      await vault.close();
      await coordination.close();
      await primary.close();
      await network.close();
    },
  };
}

async function statusOf(vault: CredentialVault, user: string) {
  const found = await vault.find(keyOf(user));
  if (!found) return null;
  const { status, reason, generation, fingerprint } = found;
  return { status, reason, generation, fingerprint };
}

function bindingOf({ resource, issuer, clientId }: VaultSpec): GrantContext['binding'] {
  return { canonicalUrl: resource, issuer, clientId, resource };
}

function contextOf(spec: VaultSpec, fetch: GrantContext['fetch']): GrantContext {
  return {
    binding: bindingOf(spec),
    client: { clientId: spec.clientId, source: 'configured', auth: { method: 'none' } },
    fetch,
    headers: {},
    form: { resource: spec.resource },
    profile: { rotationGraceMs: spec.rotationGraceMs, revokeOnReplace: 'never' },
    rediscover: async () => null,
    reregister: async () => false,
  };
}

interface Parts {
  readonly vault: CredentialVault;
  readonly fetch: Fetch;
  readonly url: string;
  readonly keyOf: (user: string) => CredentialKey;
}

/** Calls a tool like the gateway: with a token of the vault, and one recovery if the server refuses it. */
function createWorkerCalls({ vault, fetch, url, keyOf }: Parts) {
  async function callWhoami(accessToken: string): Promise<{ status: number; user: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${accessToken}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }),
    });
    const text = await response.text();
    if (response.status !== 200) return { status: response.status, user: '' };
    const { result } = JSON.parse(text) as { result: { content: { text: string }[] } };
    return { status: 200, user: result.content[0]?.text ?? '' };
  }

  async function callOnce(user: string): Promise<string> {
    const key = keyOf(user);
    let outcome = await vault.token(key);
    if (outcome.kind !== 'token') return describeFailure(outcome);
    let response = await callWhoami(outcome.token.accessToken);
    if (response.status === 401) {
      outcome = await vault.recover(key, outcome.token.accessToken);
      if (outcome.kind !== 'token') return describeFailure(outcome);
      response = await callWhoami(outcome.token.accessToken);
    }
    if (response.status !== 200) return `HTTP ${response.status}`;
    return response.user === user ? 'ok' : 'mistaken';
  }

  return async ({ users, callsPerUser, spreadMs = 0 }: CallsCommand): Promise<CallsReport> => {
    const callers = users.flatMap((user) => Array.from({ length: callsPerUser }, () => user));
    const outcomes = await Promise.all(
      callers.map(async (user) => {
        if (spreadMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * spreadMs));
        return callOnce(user).catch((error: unknown) => String(error));
      }),
    );
    const failures: Record<string, number> = {};
    for (const outcome of outcomes) {
      if (outcome !== 'ok' && outcome !== 'mistaken') failures[outcome] = (failures[outcome] ?? 0) + 1;
    }
    const count = (expected: string) => outcomes.filter((end) => end === expected).length;
    return { succeeded: count('ok'), failures, wrongUser: count('mistaken') };
  };
}

/** Describes an outcome without a token. */
function describeFailure(outcome: { readonly kind: string; readonly reason?: string }): string {
  return outcome.reason === undefined ? outcome.kind : `${outcome.kind}: ${outcome.reason}`;
}

/** Holds requests before the network. A held request was never sent. */
interface SendGate {
  readonly fetch: Fetch;
  hold(): void;
  release(): void;
  readonly waitingCount: number;
}

function createSendGate(inner: Fetch): SendGate {
  let isClosed = false;
  const resumers: (() => void)[] = [];
  return {
    async fetch(url, init) {
      if (isClosed) await new Promise<void>((resolve) => resumers.push(resolve));
      return inner(url, init);
    },
    hold: () => void (isClosed = true),
    release() {
      isClosed = false;
      resumers.splice(0).forEach((resume) => resume());
    },
    get waitingCount() {
      return resumers.length;
    },
  };
}
