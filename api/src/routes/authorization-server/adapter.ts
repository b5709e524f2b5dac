import type { AuthorizationServerRecords, ClientGrants } from '@behalf/gateway/authorization-server';
import type { Clock } from '@behalf/kernel';
import type { Adapter, AdapterPayload, ClientMetadata } from 'oidc-provider';
import { UNUSED_CLIENT_TTL_MS } from './limits.ts';
import { errors } from './oidcProvider.ts';

interface AdapterParts {
  readonly records: AuthorizationServerRecords;
  readonly grants: Pick<ClientGrants, 'find' | 'end'>;
  /** Clients of the operator, by id. */
  readonly clients: ReadonlyMap<string, ClientMetadata>;
  /** For how long a refresh token that was used answers once more. */
  readonly replayWindowMs: number;
  readonly clock: Clock;
}

/**
 * What the library remembers, in our store. Where two processes could both be right (a code, a proof that is good once) the store
 * decides, not the order of a read and a write. A grant is a session of its user: that it ended there ends it here.
 */
export function createAdapter(parts: AdapterParts): (kind: string) => Adapter {
  const { records, grants, clients, replayWindowMs, clock } = parts;

  async function endGrant(grantId: string | undefined): Promise<void> {
    if (grantId === undefined) return;
    await grants.end(grantId);
    await records.remove('Grant', grantId);
  }

  /** Clients race: two requests with one refresh token, or one whose answer was lost, get the same successor. */
  async function isReplayAllowed(id: string, consumedAt: number): Promise<boolean> {
    if (clock.now() - consumedAt >= replayWindowMs) return false;
    const successorRecord = await records.find<{ token: string }>('Successor', id);
    if (!successorRecord) return true;
    const successor = await records.find('RefreshToken', successorRecord.payload.token);
    return successor?.consumedAt === null;
  }

  async function isConsumed(kind: string, id: string, consumedAt: number | null): Promise<boolean> {
    if (consumedAt === null) return false;
    return kind !== 'RefreshToken' || !(await isReplayAllowed(id, consumedAt));
  }

  return (kind) => ({
    async upsert(id, payload, expiresIn) {
      const ttlMs = expiresIn === undefined ? UNUSED_CLIENT_TTL_MS : expiresIn * 1_000;
      const options = { ttlMs, family: payload.grantId };
      if (kind !== 'ReplayDetection') return records.put(kind, id, payload, options);
      // The library looked before, and so did another process.
      if (await records.add(kind, id, payload, options)) throw new errors.InvalidClient('already used');
    },
    async find(id) {
      const configuredClient = kind === 'Client' ? clients.get(id) : undefined;
      if (configuredClient) return configuredClient;
      if (kind === 'Grant' && !(await grants.find(id))) return undefined;
      const record = await records.find<AdapterPayload>(kind, id);
      if (!record) return undefined;
      const { payload, consumedAt } = record;
      if (!(await isConsumed(kind, id, consumedAt))) return payload;
      return { ...payload, consumed: Math.floor((consumedAt ?? 0) / 1_000) };
    },
    async consume(id) {
      if (await records.consume(kind, id)) return;
      // Another process was faster.
      const record = await records.find<AdapterPayload>(kind, id);
      if (record && !(await isConsumed(kind, id, record.consumedAt))) return;
      await endGrant(record?.payload.grantId);
      throw new errors.InvalidGrant('already used');
    },
    async destroy(id) {
      if (kind === 'Grant') await endGrant(id);
      else await records.remove(kind, id);
    },
    revokeByGrantId: (grantId) => records.removeFamily(kind, grantId),
    // Nothing here is looked up in these ways: there are no sessions of the library's own, and no devices.
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  });
}
