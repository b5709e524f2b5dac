/** What people of one tenant may do. Unique by (tenant, name). */
export interface RoleRecord {
  /** Made by `roleId`. */
  id: string;
  tenant: string;
  name: string;
  description: string;
  /** The bits of MCP_SERVERS that somebody decided about. One that is missing was never decided. */
  permissions: Readonly<Record<string, boolean>>;
  version: number;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
}

export interface RoleStore {
  /** Of all tenants, in the order of their ids. */
  list(): Promise<RoleRecord[]>;
  find(tenant: string, name: string): Promise<RoleRecord | null>;
  insert(role: RoleRecord): Promise<'inserted' | 'taken'>;
  /** Replaces the record of this id if it still has version `seen`, as one step for all processes. */
  replace(role: RoleRecord, expectedVersion: number): Promise<'replaced' | 'version_conflict' | 'missing'>;
  /** False when there was none. */
  remove(tenant: string, name: string): Promise<boolean>;
}

/** A JSON tuple: no two keys share one. */
export function roleId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}
