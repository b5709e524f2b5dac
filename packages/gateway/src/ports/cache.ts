/** State whose loss costs only work. Values are opaque text; a secret in here is sealed by who puts it in. */
export interface Cache {
  get(key: string): Promise<string | undefined>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
  delete(key: string): Promise<boolean>;
  clear(): Promise<void>;
}

/** Namespaces never see each other's keys. */
export type OpenCache = (namespace: string) => Cache;
