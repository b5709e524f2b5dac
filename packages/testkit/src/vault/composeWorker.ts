import type { CredentialVault, GrantContext } from '@behalf/gateway';
import type { CredentialKey } from '@behalf/gateway/ports';
import { createVault } from '@behalf/gateway/vault';
import { createKeyring, systemRandom } from '@behalf/kernel';
import { openCoordination, openPrimary } from '@behalf/stores/open';
import { createTestNetwork } from '../mcp/testNetwork.ts';
import { createSendGate } from './sendGate.ts';
import { createRigClock } from './rigClock.ts';
import type { VaultCommands, VaultSpec } from './vaultSpec.ts';
import { createWorkerCalls, describeFailure } from './workerCalls.ts';

export interface WorkerParts {
  readonly commands: VaultCommands;
  /** As the gateway stops: what is under way ends first. */
  close(): Promise<void>;
}

const SERVER = 'storm';

export function keyOf(user: string): CredentialKey {
  return {
    tenant: 'default',
    principal: `user:${user}`,
    serverId: SERVER,
    kind: 'oauth_code',
    label: 'default',
  };
}

/** The product's own stores, door out and vault, put together as the gateway does. */
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
