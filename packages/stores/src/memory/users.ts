import type { UserStore } from '@behalf/gateway/ports';
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
    findById: async (id) => copy(users.get(id)),
    findByIdentity: async (tenant, issuer, subject) => copy(find(tenant, issuer, subject)),
    async setRole(id, role, at) {
      const user = users.get(id);
      if (!user) return false;
      users.set(id, { ...user, role, updatedAt: at });
      return true;
    },
    count: async () => users.size,
  };
}

function copy<T extends object>(record: T | undefined): T | null {
  return record ? { ...record } : null;
}
