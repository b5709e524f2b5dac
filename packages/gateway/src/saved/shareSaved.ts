import { ALL_ACL_BITS, type ShareRequest, type SharingView } from '@behalf/contracts';
import { toAclResourceId } from '../access/acl.ts';
import { shareResource, viewSharing, type Shareable } from '../access/shareResource.ts';
import { actorOf } from '../audit/audit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { requireSaved, type VisibleResource } from './findSaved.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedResource, SavedCollection, WriteSavedParts } from './parts.ts';

/** With whom it is shared: for those who may share it. */
export async function getSavedSharing<T extends SavedResource>(
  parts: WriteSavedParts,
  collection: SavedCollection<T>,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  const visible = await requireSaved(parts, collection, principal, id, 'SHARE');
  return viewSharing(parts, principal, toShareable(collection.kind, visible));
}

/** Shares it, or takes that back. Nobody is given a server by it, nor a block by a set, nor anybody's credential. */
export function shareSaved<T extends SavedResource>(
  parts: WriteSavedParts,
  collection: SavedCollection<T>,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { kind } = collection;
  const eventBase = { kind: 'permission', action: `${kind.name}.share`, subject: id } as const;
  const event = { ...eventBase, tenant: principal.tenant, actor: actorOf(principal), door: 'rest' } as const;
  const authorize = async () => {
    parts.roles.requirePermission(principal, 'SHARE');
    return toShareable(kind, await requireSaved(parts, collection, principal, id, 'SHARE'));
  };
  return shareResource(parts, principal, { event, authorize }, request);
}

/** Nobody but an owner could give it to somebody again, so one must stay. */
function toShareable(kind: SavedKind, { resource, bits }: VisibleResource<SavedResource>): Shareable {
  return {
    ...{ resourceId: toAclResourceId(kind.name, resource.id), callerBits: bits, grantableBits: ALL_ACL_BITS },
    ...{ isPublicByDefinition: false, canRemoveLastOwner: false, forbiddenCode: kind.forbidden },
  };
}
