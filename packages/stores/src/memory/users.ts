import type { UserStore } from '@behalf/gateway/ports';
import { pickUserChanges } from '../pickUserChanges.ts';
import { copyAll, copyOrNull, compareBy } from './records.ts';
import type { Tables } from './tables.ts';

export function createMemoryUsers({ users }: Tables): UserStore {
  const find = (tenant: string, issuer: string, subject: string) =>
    [...users.values()].find((u) => u.tenant === tenant && u.issuer === issuer && u.subject === subject);

  return {
    async insert(user) {
      if (users.has(user.id) || find(user.tenant, user.issuer, user.subject)) return 'taken';
      users.set(user.id, { ...user });
      return 'inserted';
    },
    async insertFirst(user) {
      if (users.size > 0) return 'not_first';
      users.set(user.id, { ...user });
      return 'inserted';
    },
    findById: async (id) => copyOrNull(users.get(id)),
    findMany: async (ids) => copyAll([...users.values()].filter(({ id }) => ids.includes(id))),
    findByIdentity: async (tenant, issuer, subject) => copyOrNull(find(tenant, issuer, subject)),
    async update(id, change, changedAt, expect = {}) {
      const user = users.get(id);
      if (!user) return false;
      if (expect.role !== undefined && user.role !== expect.role) return false;
      if (expect.roleSource !== undefined && user.roleSource !== expect.roleSource) return false;
      users.set(id, { ...user, ...pickUserChanges(change, changedAt) });
      return true;
    },
    async list(tenant, { after, limit, search = '' }) {
      const part = search.toLowerCase();
      const found = [...users.values()]
        .filter((user) => user.tenant === tenant && (after === null || user.id > after))
        .filter(({ email, name }) => [email, name].some((text) => text.toLowerCase().includes(part)))
        .sort(compareBy((user) => user.id));
      return copyAll(found.slice(0, limit));
    },
    countWithRole: async (tenant, role) =>
      [...users.values()].filter(
        (user) => user.tenant === tenant && user.role === role && user.disabledAt === null,
      ).length,
    listSignedOutSince: async (since) =>
      [...users.values()]
        .filter(({ signedOutAt }) => signedOutAt !== null && signedOutAt >= since)
        .map(({ id, tenant, signedOutAt }) => ({ id, tenant, signedOutAt })),
    count: async () => users.size,
  };
}
