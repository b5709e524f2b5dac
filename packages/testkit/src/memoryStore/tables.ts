import type { CollectionName, Collections } from '@behalf/gateway/ports';

export type Tables = { [N in CollectionName]: Map<string, Collections[N]> };

export function createTables(): Tables {
  return {
    users: new Map(),
    sessions: new Map(),
    tickets: new Map(),
    system: new Map(),
    variables: new Map(),
    servers: new Map(),
    overrides: new Map(),
    roles: new Map(),
    acl: new Map(),
    apiKeys: new Map(),
    credentials: new Map(),
    credentialUsage: new Map(),
    oauthClients: new Map(),
    drafts: new Map(),
    conversations: new Map(),
    chatMessages: new Map(),
    blocks: new Map(),
    sets: new Map(),
    runs: new Map(),
    authorizationServer: new Map(),
    audit: new Map(),
  };
}

/** Returns a copy, so that callers never hold the stored record. Lists and maps inside are readonly. */
export function copyOrNull<R extends object>(record: R | undefined): R | null {
  return record ? { ...record } : null;
}

export function copyAll<R extends object>(records: Iterable<R>): R[] {
  return [...records].map((record) => ({ ...record }));
}

/** Returns the number of removed records. */
export function removeWhere<R>(table: Map<string, R>, matches: (record: R) => boolean): number {
  const keys = [...table].filter(([, record]) => matches(record)).map(([key]) => key);
  for (const key of keys) table.delete(key);
  return keys.length;
}

/** Compares by the first value that differs. */
export function compareBy<R>(...selectors: ((record: R) => string | number)[]): (a: R, b: R) => number {
  return (a, b) => {
    for (const selector of selectors) {
      const [left, right] = [selector(a), selector(b)];
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
}

/** Unique index: rejects a second record with the same values. */
export function assertUnique<R extends { id: string }>(
  table: ReadonlyMap<string, R>,
  record: R,
  ...key: (keyof R)[]
): void {
  for (const other of table.values()) {
    if (other.id !== record.id && key.every((field) => other[field] === record[field]))
      throw new Error('A record of this key exists under another id');
  }
}
