import type { SealContext } from '@behalf/kernel';
import type { OwnedRecord, OwnedStore } from './owned.ts';

/** Blocks in an order that somebody saved: title, description and steps are sealed. */
export type SetRecord = OwnedRecord;

export type SetStore = OwnedStore<SetRecord>;

/** Bound to its owner and its id: steps moved into another row do not open there. */
export function toSetSealContext({
  tenant,
  owner,
  id,
}: Pick<SetRecord, 'tenant' | 'owner' | 'id'>): SealContext {
  return { tenant, principal: `user:${owner}`, server: '-', kind: 'set', field: 'set', binding: [id] };
}
