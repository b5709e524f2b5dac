import {
  type CredentialRecord,
  type CredentialStore,
  type CredentialUsageStore,
  type UserVariableRecord,
  type UserVariableStore,
  credentialId,
  credentialKey,
} from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import { buildClaimFields, isClaimable, matchesCondition, pickCredentialChanges } from '@behalf/stores';
import { type Tables, assertUnique, compareBy, copyAll, copyOrNull, removeWhere } from './tables.ts';

type CredentialGroup = Pick<CredentialRecord, 'tenant' | 'principal' | 'serverId'>;

export function createMemoryCredentials(
  { credentials, credentialUsage }: Tables,
  clock: Clock,
): CredentialStore {
  const listGroup = ({ tenant, principal, serverId }: CredentialGroup) =>
    [...credentials.values()].filter(
      (credential) =>
        credential.tenant === tenant &&
        credential.principal === principal &&
        credential.serverId === serverId,
    );
  const write = (credential: CredentialRecord, changes: Partial<CredentialRecord>) => {
    const next = { ...credential, ...changes, version: credential.version + 1, updatedAt: clock.now() };
    credentials.set(credential.id, next);
    return { ...next };
  };

  /** Removes the usage records as well. */
  const removeMatching = (matches: (credential: CredentialRecord) => boolean) => {
    const previousIds = new Set(credentials.keys());
    const count = removeWhere(credentials, matches);
    for (const id of previousIds) if (!credentials.has(id)) credentialUsage.delete(id);
    return count;
  };

  return {
    async insert(credential) {
      const { id, kind, label } = credential;
      const others = listGroup(credential);
      if (
        credentials.has(id) ||
        others.some((credential) => credential.kind === kind && credential.label === label)
      )
        return false;
      const isDefault = !others.some((credential) => credential.isDefault);
      credentials.set(credential.id, { ...credential, isDefault });
      return true;
    },
    find: async (key) => copyOrNull(credentials.get(credentialId(key))),
    findById: async (id) => copyOrNull(credentials.get(id)),
    list: async (tenant, principal, serverId) =>
      copyAll(
        [...credentials.values()]
          .filter((credential) => credential.tenant === tenant && credential.principal === principal)
          .filter((credential) => serverId === undefined || credential.serverId === serverId)
          .sort(
            compareBy(
              (credential) => credential.serverId,
              (credential) => credential.kind,
              (credential) => credential.label,
            ),
          ),
      ),
    listKeysByServer: async (tenant, serverId, limit) =>
      [...credentials.values()]
        .filter((credential) => credential.tenant === tenant && credential.serverId === serverId)
        .sort(compareBy((credential) => credential.id))
        .slice(0, limit)
        .map(credentialKey),
    async replace(id, condition, patch) {
      const credential = credentials.get(id);
      return credential && matchesCondition(credential, condition)
        ? write(credential, pickCredentialChanges(patch))
        : null;
    },
    async claim(id, request) {
      const credential = credentials.get(id);
      const now = clock.now();
      if (!credential || !isClaimable(credential, request, now)) return null;
      return {
        record: write(credential, buildClaimFields(credential, request, now)),
        tookOver: credential.claimOwner !== null,
      };
    },
    async extendClaim(id, claimSeq, owner, ttlMs) {
      const credential = credentials.get(id);
      if (credential?.claimSeq !== claimSeq || credential.claimOwner !== owner) return false;
      write(credential, { claimDeadline: clock.now() + ttlMs });
      return true;
    },
    async makeDefault(id) {
      const credential = credentials.get(id);
      if (!credential) return false;
      for (const member of listGroup(credential)) {
        const isDefault = member.id === id;
        if (member.isDefault !== isDefault) write(member, { isDefault });
      }
      return true;
    },
    remove: async (key) => removeMatching(({ id }) => id === credentialId(key)) > 0,
    removeByPrincipal: async (tenant, principal) =>
      removeMatching((credential) => credential.tenant === tenant && credential.principal === principal),
    removeByServer: async (tenant, serverId) =>
      removeMatching((credential) => credential.tenant === tenant && credential.serverId === serverId),
    removeExpired: async (now) => removeMatching(({ expiresAt }) => expiresAt !== null && expiresAt <= now),
    now: async () => clock.now(),
  };
}

export function createMemoryCredentialUsage({ credentialUsage }: Tables): CredentialUsageStore {
  return {
    put: async (usage) => void credentialUsage.set(usage.id, { ...usage }),
    find: async (id) => copyOrNull(credentialUsage.get(id)),
    listUsedSince: async (since, limit) =>
      copyAll(
        [...credentialUsage.values()]
          .filter(({ lastUsedAt }) => lastUsedAt >= since)
          .sort(
            compareBy(
              ({ lastUsedAt }) => -lastUsedAt,
              ({ id }) => id,
            ),
          )
          .slice(0, limit),
      ),
    remove: async (id) => credentialUsage.delete(id),
  };
}

export function createMemoryVariables({ variables }: Tables): UserVariableStore {
  const of = (tenant: string, userId: string, serverId: string) => (variable: UserVariableRecord) =>
    variable.tenant === tenant && variable.userId === userId && variable.serverId === serverId;

  return {
    list: async (tenant, userId, serverId) =>
      copyAll(
        [...variables.values()].filter(of(tenant, userId, serverId)).sort(compareBy(({ name }) => name)),
      ),
    async put(records) {
      for (const record of records) {
        assertUnique(variables, record, 'tenant', 'userId', 'serverId', 'name');
        variables.set(record.id, { ...record });
      }
    },
    async remove(tenant, userId, serverId, name) {
      const ours = of(tenant, userId, serverId);
      return removeWhere(variables, (variable) => ours(variable) && variable.name === name) > 0;
    },
    removeAll: async (tenant, userId, serverId) => removeWhere(variables, of(tenant, userId, serverId)),
    removeByServer: async (tenant, serverId) =>
      removeWhere(variables, (variable) => variable.tenant === tenant && variable.serverId === serverId),
    removeByUser: async (tenant, userId) =>
      removeWhere(variables, (variable) => variable.tenant === tenant && variable.userId === userId),
  };
}
