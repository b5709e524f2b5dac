import { aclBits, hasAclBit, type AclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { isAdmin, type Principal } from '../principal/principal.ts';
import { MAX_PAGE_SIZE } from './limits.ts';
import type { SavedResource, ReadSavedParts, SavedCollection } from './parts.ts';
import type { SavedKind } from './kinds.ts';

export interface VisibleResource<T> {
  readonly resource: T;
  readonly bits: number;
}

/**
 * What rows give, and nothing else: what is saved is what people typed in, so an administrator sees what is shared with them.
 * Of that they may remove anything: what is shared with everybody runs in everybody's name.
 */
export function getCallerBits(
  { acl }: Pick<ReadSavedParts, 'acl'>,
  { name }: SavedKind,
  principal: Principal,
  id: string,
): number {
  return addAdminBits(principal, acl.getSavedBits(principal, name, id));
}

function addAdminBits(principal: Principal, bits: number): number {
  return isAdmin(principal) && hasAclBit(bits, 'VIEW') ? bits | aclBits.DELETE : bits;
}

/** Null for one that is not for the caller, as for one that does not exist. */
export async function findVisibleSaved<T extends SavedResource>(
  parts: ReadSavedParts,
  { kind, store }: SavedCollection<T>,
  principal: Principal,
  id: string,
): Promise<VisibleResource<T> | null> {
  parts.roles.requirePermission(principal, 'USE');
  const bits = getCallerBits(parts, kind, principal, id);
  if (!hasAclBit(bits, 'VIEW')) return null;
  const resource = await store.find(principal.tenant, id);
  return resource && { resource, bits };
}

/** One that the caller may do this with. */
export async function requireSaved<T extends SavedResource>(
  parts: ReadSavedParts,
  collection: SavedCollection<T>,
  principal: Principal,
  id: string,
  bit: AclBit = 'VIEW',
): Promise<VisibleResource<T>> {
  const visible = await findVisibleSaved(parts, collection, principal, id);
  if (!visible) throw new GatewayError(collection.kind.notFound);
  if (!hasAclBit(visible.bits, bit)) throw new GatewayError(collection.kind.forbidden);
  return visible;
}

export interface SavedPageQuery {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listSaved<T extends SavedResource>(
  parts: ReadSavedParts,
  { kind, store }: SavedCollection<T>,
  principal: Principal,
  { limit = MAX_PAGE_SIZE, after }: SavedPageQuery = {},
): Promise<{ visible: VisibleResource<T>[]; next: string | null }> {
  parts.roles.requirePermission(principal, 'USE');
  const visibleBits = parts.acl.listSavedBits(principal, kind.name);
  const ids = [...visibleBits.keys()]
    .filter((id) => hasAclBit(visibleBits.get(id) ?? 0, 'VIEW') && (after === undefined || id > after))
    .sort();
  const page = ids.slice(0, Math.min(limit, MAX_PAGE_SIZE));
  const resources = await store.findMany(principal.tenant, page);
  return {
    visible: resources.map((resource) => ({
      resource,
      bits: addAdminBits(principal, visibleBits.get(resource.id) ?? 0),
    })),
    next: page.length < ids.length ? (page.at(-1) ?? null) : null,
  };
}
