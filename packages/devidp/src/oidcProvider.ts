import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * Imports the library without its warning about the Node version: it declares Node 22 but works with 20.19. Other
 * warnings are printed.
 */
const { warn } = console;
console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('Unsupported runtime')) warn(...args);
};
const library = await import('oidc-provider');
console.warn = warn;

export const { default: Provider, errors } = library;

/** Limits memory. The oldest entries are dropped. */
const MAX_RECORDS = 10_000;

/**
 * In-memory storage, shared by all provider instances, so that sessions, codes and refresh tokens survive a key
 * rotation. The library checks `exp` itself.
 */
export function createMemoryAdapter(): (model: string) => Adapter {
  const records = new Map<string, AdapterPayload>();
  const findFirst = (model: string, matches: (payload: AdapterPayload) => boolean) => {
    for (const [key, payload] of records) if (key.startsWith(`${model}:`) && matches(payload)) return payload;
    return undefined;
  };

  return (model) => {
    const toKey = (id: string) => `${model}:${id}`;
    return {
      async upsert(id, payload) {
        records.delete(toKey(id));
        records.set(toKey(id), payload);
        for (const oldest of records.keys()) {
          if (records.size <= MAX_RECORDS) break;
          records.delete(oldest);
        }
      },
      async find(id) {
        return records.get(toKey(id));
      },
      async findByUid(uid) {
        return findFirst(model, (payload) => payload.uid === uid);
      },
      async findByUserCode(userCode) {
        return findFirst(model, (payload) => payload.userCode === userCode);
      },
      async consume(id) {
        const payload = records.get(toKey(id));
        if (payload) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        records.delete(toKey(id));
      },
      async revokeByGrantId(grantId) {
        for (const [key, payload] of records) if (payload.grantId === grantId) records.delete(key);
      },
    };
  };
}
