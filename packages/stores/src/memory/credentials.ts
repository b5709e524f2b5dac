import {
  credentialId,
  credentialKey,
  type CredentialRecord,
  type CredentialStore,
} from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { credentialChange } from '../credentialChange.ts';
import { claimOf, conditionHolds, isClaimable } from '../credentialRules.ts';
import { copiesOf, copyOf, inOrderOf, removeWhere } from './records.ts';
import type { Tables } from './tables.ts';

type Group = Pick<CredentialRecord, 'tenant' | 'principal' | 'serverId'>;

export function createMemoryCredentials(
  { credentials, credentialUsage }: Tables,
  clock: Clock,
): CredentialStore {
  const groupOf = ({ tenant, principal, serverId }: Group) =>
    [...credentials.values()].filter(
      (held) => held.tenant === tenant && held.principal === principal && held.serverId === serverId,
    );
  const write = (held: CredentialRecord, change: Partial<CredentialRecord>) => {
    const next = { ...held, ...change, version: held.version + 1, updatedAt: clock.now() };
    credentials.set(held.id, next);
    return { ...next };
  };

  /** What is known of their use goes along. */
  const removeThose = (gone: (held: CredentialRecord) => boolean) => {
    const before = new Set(credentials.keys());
    const count = removeWhere(credentials, gone);
    for (const id of before) if (!credentials.has(id)) credentialUsage.delete(id);
    return count;
  };

  return {
    async insert(credential) {
      const { id, kind, label } = credential;
      const others = groupOf(credential);
      if (credentials.has(id) || others.some((held) => held.kind === kind && held.label === label))
        return false;
      const isDefault = !others.some((held) => held.isDefault);
      credentials.set(credential.id, { ...credential, isDefault });
      return true;
    },
    find: async (key) => copyOf(credentials.get(credentialId(key))),
    findById: async (id) => copyOf(credentials.get(id)),
    list: async (tenant, principal, serverId) =>
      copiesOf(
        [...credentials.values()]
          .filter((held) => held.tenant === tenant && held.principal === principal)
          .filter((held) => serverId === undefined || held.serverId === serverId)
          .sort(
            inOrderOf(
              (held) => held.serverId,
              (held) => held.kind,
              (held) => held.label,
            ),
          ),
      ),
    listKeysByServer: async (tenant, serverId, limit) =>
      [...credentials.values()]
        .filter((held) => held.tenant === tenant && held.serverId === serverId)
        .sort(inOrderOf((held) => held.id))
        .slice(0, limit)
        .map(credentialKey),
    async replace(id, when, patch) {
      const held = credentials.get(id);
      return held && conditionHolds(held, when) ? write(held, credentialChange(patch)) : null;
    },
    async claim(id, request) {
      const held = credentials.get(id);
      const now = clock.now();
      if (!held || !isClaimable(held, request, now)) return null;
      return { record: write(held, claimOf(held, request, now)), tookOver: held.claimOwner !== null };
    },
    async extendClaim(id, claimSeq, owner, ttlMs) {
      const held = credentials.get(id);
      if (held?.claimSeq !== claimSeq || held.claimOwner !== owner) return false;
      write(held, { claimDeadline: clock.now() + ttlMs });
      return true;
    },
    async makeDefault(id) {
      const chosen = credentials.get(id);
      if (!chosen) return false;
      for (const held of groupOf(chosen)) {
        const isDefault = held.id === id;
        if (held.isDefault !== isDefault) write(held, { isDefault });
      }
      return true;
    },
    remove: async (key) => removeThose(({ id }) => id === credentialId(key)) > 0,
    removeByPrincipal: async (tenant, principal) =>
      removeThose((held) => held.tenant === tenant && held.principal === principal),
    removeByServer: async (tenant, serverId) =>
      removeThose((held) => held.tenant === tenant && held.serverId === serverId),
    removeExpired: async (now) => removeThose(({ expiresAt }) => expiresAt !== null && expiresAt <= now),
    now: async () => clock.now(),
  };
}
