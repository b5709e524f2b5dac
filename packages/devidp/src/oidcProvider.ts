import type { Adapter, AdapterPayload } from 'oidc-provider';

/**
 * The library, without its one complaint at load time: it names Node 22 as its floor and runs on 20.19, which is ours.
 * Any other warning goes through.
 */
const { warn } = console;
console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('Unsupported runtime')) warn(...args);
};
const library = await import('oidc-provider');
console.warn = warn;

export const { default: Provider, errors } = library;

/** Older ones are forgotten: a provider that runs for weeks beside a test loop must not grow. */
const MAX_RECORDS = 10_000;

/**
 * The provider's records, in memory. Made once and handed to each instance of the provider, so that logins, codes and
 * refresh tokens survive a key rotation. Expiry is the library's business: it looks at `exp` of everything it reads.
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
