import type { ApiKeyStore, SessionStore, TicketKind, TicketStore, UserStore } from '@behalf/gateway/ports';
import { pickUserChanges } from '@behalf/stores';
import { type Tables, assertUnique, compareBy, copyAll, copyOrNull, removeWhere } from './tables.ts';

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

export function createMemorySessions({ sessions }: Tables): SessionStore {
  return {
    async insert(session) {
      sessions.set(session.hash, { ...session });
    },
    async find(hash, now) {
      const session = sessions.get(hash);
      return session && session.expiresAt > now ? copyOrNull(session) : null;
    },
    filterActive: async (hashes, now) =>
      hashes.filter((hash) => (sessions.get(hash)?.expiresAt ?? now) > now),
    list: async (userId, now) =>
      copyAll(
        [...sessions.values()]
          .filter((session) => session.userId === userId && session.expiresAt > now)
          .sort(
            compareBy(
              ({ createdAt }) => createdAt,
              ({ hash }) => hash,
            ),
          ),
      ),
    remove: async (hash) => sessions.delete(hash),
    removeByUser: async (userId) => removeWhere(sessions, (session) => session.userId === userId),
    removeExpired: async (now) => removeWhere(sessions, (session) => session.expiresAt <= now),
  };
}

export function createMemoryApiKeys({ apiKeys }: Tables): ApiKeyStore {
  return {
    async insert(key) {
      if (apiKeys.has(key.id)) throw new Error('An API key with this id already exists');
      assertUnique(apiKeys, key, 'hash');
      apiKeys.set(key.id, { ...key });
    },
    findByHash: async (hash, now) =>
      copyOrNull([...apiKeys.values()].find((key) => key.hash === hash && key.expiresAt > now)),
    filterActive: async (ids, now) => ids.filter((id) => (apiKeys.get(id)?.expiresAt ?? now) > now),
    list: async (userId) =>
      copyAll(
        [...apiKeys.values()]
          .filter((key) => key.userId === userId)
          .sort(
            compareBy(
              ({ createdAt }) => createdAt,
              ({ id }) => id,
            ),
          ),
      ),
    async remove(userId, id) {
      const key = apiKeys.get(id);
      if (key?.userId !== userId) return null;
      apiKeys.delete(id);
      return key;
    },
    removeByUser: async (userId) => removeWhere(apiKeys, (key) => key.userId === userId),
    removeExpired: async (now) => removeWhere(apiKeys, (key) => key.expiresAt <= now),
    async touch(id, usedAt) {
      const key = apiKeys.get(id);
      if (key && (key.lastUsedAt ?? 0) < usedAt) apiKeys.set(id, { ...key, lastUsedAt: usedAt });
    },
  };
}

export function createMemoryTickets({ tickets }: Tables): TicketStore {
  const findOpenTicket = (kind: TicketKind, hash: string, now: number) => {
    const ticket = tickets.get(hash);
    return ticket?.kind === kind && ticket.consumedAt === null && ticket.expiresAt > now ? ticket : null;
  };

  return {
    async issue(ticket) {
      for (const { hash, expiresAt } of [...tickets.values()]) {
        if (expiresAt <= ticket.createdAt) tickets.delete(hash);
      }
      tickets.set(ticket.hash, { ...ticket, consumedAt: null });
    },
    isConsumable: async (kind, hash, now) => findOpenTicket(kind, hash, now) !== null,
    async consume(kind, hash, now) {
      const ticket = findOpenTicket(kind, hash, now);
      if (!ticket) return false;
      tickets.set(hash, { ...ticket, consumedAt: now });
      return true;
    },
    async revokeAll(kind) {
      const revokedTickets = [...tickets.values()].filter((ticket: { kind: string }) => ticket.kind === kind);
      for (const { hash } of revokedTickets) tickets.delete(hash);
    },
  };
}
