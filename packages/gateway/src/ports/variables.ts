import type { SealContext } from '@behalf/kernel';

/** One value that a user entered for one server. Unique by (tenant, userId, serverId, name). */
export interface UserVariableRecord {
  /** Made of what is unique about it by `variableId`, so that two writers of one value meet in one row. */
  id: string;
  tenant: string;
  userId: string;
  serverId: string;
  name: string;
  valueSealed: string;
  updatedAt: number;
}

export type VariableKey = Pick<UserVariableRecord, 'tenant' | 'userId' | 'serverId' | 'name'>;

export interface UserVariableStore {
  /** Of one user for one server, in the order of their names. */
  list(tenant: string, userId: string, serverId: string): Promise<UserVariableRecord[]>;
  /** Each replaces what was there. */
  put(records: readonly UserVariableRecord[]): Promise<void>;
  /** False when there was none. */
  remove(tenant: string, userId: string, serverId: string, name: string): Promise<boolean>;
  /** All of one user for one server; how many there were. */
  removeAll(tenant: string, userId: string, serverId: string): Promise<number>;
  /** Of all users: the server is gone. */
  removeByServer(tenant: string, serverId: string): Promise<number>;
  /** For all servers: the user is gone. */
  removeByUser(tenant: string, userId: string): Promise<number>;
}

/** A JSON tuple: no two keys share one. */
export function variableId({ tenant, userId, serverId, name }: VariableKey): string {
  return JSON.stringify([tenant, userId, serverId, name]);
}

/** Bound to user, server and name: a value moved into another row does not open there. */
export function toVariableSealContext({ tenant, userId, serverId, name }: VariableKey): SealContext {
  return { tenant, principal: `user:${userId}`, server: serverId, kind: 'user-variable', field: name };
}
