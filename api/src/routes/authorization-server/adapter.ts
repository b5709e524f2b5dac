import type { AuthorizationServerRecords, ClientGrants } from '@behalf/gateway/authorization-server';
import type { Clock } from '@behalf/kernel';
import type { Adapter, AdapterPayload, ClientMetadata } from 'oidc-provider';
import { UNUSED_CLIENT_TTL_MS } from './limits.ts';
import { errors } from './oidcProvider.ts';

interface AdapterParts {
  readonly records: AuthorizationServerRecords;
  readonly grants: Pick<ClientGrants, 'find' | 'end'>;
  /** Clients of the configuration, by id. */
  readonly clients: ReadonlyMap<string, ClientMetadata>;
  /** A used refresh token is accepted a second time within this window. */
  readonly replayWindowMs: number;
  readonly clock: Clock;
}

/**
 * The storage adapter of oidc-provider. Where two replicas compete (authorization codes, single-use proofs), an atomic
 * operation of the store decides, not a read followed by a write. A grant corresponds to a session of its user: if the
 * session ends, the grant ends.
 */
export function createAdapter(parts: AdapterParts): (kind: string) => Adapter {
  const { records, grants, clients, replayWindowMs, clock } = parts;

  /**
   * Whether a consumed record is accepted again: two concurrent requests with one refresh token, or a retry after a lost
   * response, receive the same successor. Not after the successor was used.
   */
  async function isReplayAllowed(kind: string, id: string, consumedAt: number): Promise<boolean> {
    if (kind !== 'RefreshToken' || clock.now() - consumedAt >= replayWindowMs) return false;
    const successorRecord = await records.find<{ token: string }>('Successor', id);
    if (!successorRecord) return true;
    const successor = await records.find('RefreshToken', successorRecord.payload.token);
    return successor?.consumedAt === null;
  }

  async function endGrant(grantId: string): Promise<void> {
    await grants.end(grantId);
    await records.remove('Grant', grantId);
  }

  return (kind) => ({
    async upsert(id, payload, expiresIn) {
      const ttlMs = expiresIn === undefined ? UNUSED_CLIENT_TTL_MS : expiresIn * 1_000;
      const options = { ttlMs, family: payload.grantId };
      if (kind !== 'ReplayDetection') return records.put(kind, id, payload, options);
      // The library found no record, but another replica may have checked at the same time.
      if (await records.add(kind, id, payload, options)) throw new errors.InvalidClient('already used');
    },
    async find(id) {
      const configuredClient = kind === 'Client' ? clients.get(id) : undefined;
      if (configuredClient) return configuredClient;
      if (kind === 'Grant' && !(await grants.find(id))) return undefined;
      const record = await records.find<AdapterPayload>(kind, id);
      if (!record) return undefined;
      const { payload, consumedAt } = record;
      if (consumedAt === null || (await isReplayAllowed(kind, id, consumedAt))) return payload;
      return { ...payload, consumed: Math.floor(consumedAt / 1_000) };
    },
    async consume(id) {
      if (await records.consume(kind, id)) return;
      // Another request consumed the record first.
      const record = await records.find<AdapterPayload>(kind, id);
      if (record) {
        const { payload, consumedAt } = record;
        if (consumedAt === null || (await isReplayAllowed(kind, id, consumedAt))) return;
        if (payload.grantId !== undefined) await endGrant(payload.grantId);
      }
      throw new errors.InvalidGrant('already used');
    },
    async destroy(id) {
      if (kind === 'Grant') await endGrant(id);
      else await records.remove(kind, id);
    },
    revokeByGrantId: (grantId) => records.removeFamily(kind, grantId),
    // Not used: the library keeps no sessions across requests, and the device flow is disabled.
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  });
}
