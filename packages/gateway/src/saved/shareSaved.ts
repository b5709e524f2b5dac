import { ALL_ACL_BITS, type ShareRequest, type SharingView } from '@behalf/contracts';
import { savedResource } from '../access/acl.ts';
import { shareResource, viewSharing, type Shareable } from '../access/shareResource.ts';
import { actorOf } from '../audit/audit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { findSaved, type Found } from './findSaved.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedThing, Shelf, WriteSavedParts } from './parts.ts';

/** With whom it is shared: for those who may share it. */
export async function savedSharing<T extends SavedThing>(
  parts: WriteSavedParts,
  shelf: Shelf<T>,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  const found = await findSaved(parts, shelf, principal, id, 'SHARE');
  return viewSharing(parts, principal, asShareable(shelf.kind, found));
}

/** Shares it, or takes that back. Nobody is given a server by it, nor a block by a set, nor anybody's credential. */
export function shareSaved<T extends SavedThing>(
  parts: WriteSavedParts,
  shelf: Shelf<T>,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { kind } = shelf;
  const what = { kind: 'permission', action: `${kind.word}.share`, subject: id } as const;
  const attempt = { ...what, tenant: principal.tenant, actor: actorOf(principal), door: 'rest' } as const;
  const ask = async () => {
    parts.roles.requirePermission(principal, 'SHARE');
    return asShareable(kind, await findSaved(parts, shelf, principal, id, 'SHARE'));
  };
  return shareResource(parts, principal, { attempt, ask }, request);
}

/** Nobody but an owner could give it to somebody again, so one must stay. */
function asShareable(kind: SavedKind, { thing, bits }: Found<SavedThing>): Shareable {
  return {
    ...{ resource: savedResource(kind.word, thing.id), bits, givable: ALL_ACL_BITS },
    ...{ isForEverybody: false, mayOrphan: false, denial: kind.forbidden },
  };
}
