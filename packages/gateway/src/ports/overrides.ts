import type { SealContext } from '@behalf/kernel';

/** An administrator's change to a server of the file, or a server that only this tenant has. Unique by (tenant, name). */
export interface OverrideRecord {
  /** Made by `overrideId`. */
  id: string;
  tenant: string;
  name: string;
  version: number;
  /** The definition as JSON: only what differs. */
  configSealed: string;
  createdAt: number;
  updatedAt: number;
  updatedBy: string;
  /** Who last decided where calls lead and with which credential: what users' tokens are trusted to. */
  securedBy: string;
  securedAt: number;
}

export interface OverrideStore {
  /** Of all tenants, in the order of their ids. */
  list(): Promise<OverrideRecord[]>;
  find(tenant: string, name: string): Promise<OverrideRecord | null>;
  /** Inserts when `seen` is null and there is none, replaces when it still has version `seen`; one step for all. */
  put(override: OverrideRecord, expectedVersion: number | null): Promise<'stored' | 'version_conflict'>;
  remove(
    tenant: string,
    name: string,
    expectedVersion: number,
  ): Promise<'removed' | 'version_conflict' | 'missing'>;
}

/** A JSON tuple: no two keys share one. */
export function overrideId(tenant: string, name: string): string {
  return JSON.stringify([tenant, name]);
}

/**
 * Bound to tenant and name and to who decided about it: a definition moved into another row does not open there, nor does
 * one whose row names somebody else.
 */
export function toOverrideSealContext({
  tenant,
  name,
  securedBy,
}: Pick<OverrideRecord, 'tenant' | 'name' | 'securedBy'>): SealContext {
  return { tenant, principal: '-', server: name, kind: 'override', field: 'config', binding: [securedBy] };
}
