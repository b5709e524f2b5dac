import type { UserStore } from '@behalf/gateway/ports';
import { userChange } from '../userChange.ts';
import { copiesOf, copyOf, inOrderOf } from './records.ts';
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
    findById: async (id) => copyOf(users.get(id)),
    findMany: async (ids) => copiesOf([...users.values()].filter(({ id }) => ids.includes(id))),
    findByIdentity: async (tenant, issuer, subject) => copyOf(find(tenant, issuer, subject)),
    async update(id, change, at, expect = {}) {
      const user = users.get(id);
      if (!user) return false;
      if (expect.role !== undefined && user.role !== expect.role) return false;
      if (expect.roleSource !== undefined && user.roleSource !== expect.roleSource) return false;
      users.set(id, { ...user, ...userChange(change, at) });
      return true;
    },
    async list(tenant, { after, limit, search = '' }) {
      const part = search.toLowerCase();
      const found = [...users.values()]
        .filter((user) => user.tenant === tenant && (after === null || user.id > after))
        .filter(({ email, name }) => [email, name].some((text) => text.toLowerCase().includes(part)))
        .sort(inOrderOf((user) => user.id));
      return copiesOf(found.slice(0, limit));
    },
    countWithRole: async (tenant, role) =>
      [...users.values()].filter(
        (user) => user.tenant === tenant && user.role === role && user.disabledAt === null,
      ).length,
    listSignedOutSince: async (at) =>
      [...users.values()]
        .filter(({ signedOutAt }) => signedOutAt !== null && signedOutAt >= at)
        .map(({ id, tenant, signedOutAt }) => ({ id, tenant, signedOutAt })),
    count: async () => users.size,
  };
}
