import type { SetsQuery, SetsView, SetView } from '@behalf/contracts';
import type { Principal } from '../principal/principal.ts';
import { requireSaved, listSaved, type VisibleResource } from '../saved/findSaved.ts';
import type { ViewSetParts } from './parts.ts';
import { getSetCollection, type BlockSet } from './sealedSets.ts';

/** What is shown of a set: field by field, so that one nobody has thought about stays hidden. */
export function toSetView({ resource, bits }: VisibleResource<BlockSet>): SetView {
  const { id, title, description, steps, owner, version, createdAt, updatedAt } = resource;
  return {
    ...{ id, title, ...(description !== undefined && { description }), steps },
    ...{ owner, version, createdAt, updatedAt, permissions: bits },
  };
}

/** A set as this caller may see it. One that is not for them does not exist. */
export async function viewSet(parts: ViewSetParts, principal: Principal, id: string): Promise<SetView> {
  return toSetView(await requireSaved(parts, getSetCollection(parts), principal, id));
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listSets(
  parts: ViewSetParts,
  principal: Principal,
  query: SetsQuery = {},
): Promise<SetsView> {
  const { visible, next } = await listSaved(parts, getSetCollection(parts), principal, query);
  return { sets: visible.map(toSetView), next };
}
