import {
  ALL_ACL_BITS,
  type AclBit,
  type ShareRequest,
  type SharingView,
  aclBits,
  hasAclBit,
} from '@behalf/contracts';
import { toAclResourceId } from '../access/acl.ts';
import { type Shareable, shareResource, viewSharing } from '../access/shareResource.ts';
import { actorOf } from '../audit/audit.ts';
import { type AuditDetails, withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type Principal, type UserPrincipal, isAdmin } from '../principal/principal.ts';
import { parseIfMatch } from '../servers/editing.ts';
import { loadCurrentCaller } from '../servers/permissions.ts';
import type { ReadSavedParts, SavedCollection, SavedKind, SavedResource, WriteSavedParts } from './store.ts';

export interface VisibleResource<T> {
  readonly resource: T;
  readonly bits: number;
}

/**
 * What rows give, and nothing else: what is saved is what people typed in, so an administrator sees what is shared with them.
 * Of that they may remove anything: what is shared with everybody runs in everybody's name.
 */
function getCallerBits(
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

interface SavedPageQuery {
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

export interface WriteCondition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** A change of what is saved, as it is written down. */
export function createSavedEvent(
  principal: UserPrincipal,
  { name }: SavedKind,
  action: 'create' | 'change' | 'delete',
  subjectFields: { readonly server?: string; readonly subject?: string },
) {
  const { tenant } = principal;
  const eventBase = { kind: 'config', action: `${name}.${action}`, door: 'rest' } as const;
  return { ...eventBase, tenant, actor: actorOf(principal), ...subjectFields } as const;
}

/** By what the store says now: what is saved stays, so it may not rest on a right or an account that was taken away a second ago. */
export async function reauthorizeSavedWriter(
  parts: Pick<WriteSavedParts, 'acl' | 'roles' | 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const { acl, roles } = parts;
  const [caller] = await Promise.all([loadCurrentCaller(parts, principal), acl.refresh(), roles.refresh()]);
  roles.requirePermission(caller, 'USE');
  return caller;
}

/** The owner's rights first: what nobody has could never be removed. */
export async function insertSaved<T extends SavedResource>(
  { acl }: Pick<WriteSavedParts, 'acl'>,
  { kind, store }: SavedCollection<T>,
  resource: T,
): Promise<void> {
  const { tenant, id, owner } = resource;
  const aclResourceId = toAclResourceId(kind.name, id);
  await acl.grantOwner({ tenant, id: aclResourceId }, owner);
  try {
    await store.insert(resource);
  } catch (error) {
    await acl.removeServer(tenant, aclResourceId);
    throw error;
  }
}

export function requireVersion(ifMatch: string | undefined, version: number): void {
  const versions = parseIfMatch(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('VERSION_CONFLICT');
}

/** The rows go last: cut short in between, removing it again finishes the work. */
export function removeSaved<T extends SavedResource>(
  parts: WriteSavedParts,
  { kind, store }: SavedCollection<T>,
  principal: UserPrincipal,
  id: string,
  {
    ifMatch,
    toAuditDetails,
  }: WriteCondition & { readonly toAuditDetails?: (resource: T) => AuditDetails } = {},
): Promise<void> {
  return withAudit(
    parts.audit,
    createSavedEvent(principal, kind, 'delete', { subject: id }),
    async (details) => {
      const { tenant, ...caller } = await reauthorizeSavedWriter(parts, principal);
      const bits = getCallerBits(parts, kind, { tenant, ...caller }, id);
      if (!hasAclBit(bits, 'VIEW')) throw new GatewayError(kind.notFound);
      if (!hasAclBit(bits, 'DELETE')) throw new GatewayError(kind.forbidden);
      // One that does not open can still be thrown away.
      const resource = await store.find(tenant, id);
      if (resource) {
        Object.assign(details, toAuditDetails?.(resource));
        requireVersion(ifMatch, resource.version);
      }
      const wasRemoved = await store.remove(tenant, id);
      await parts.acl.removeServer(tenant, toAclResourceId(kind.name, id));
      if (!wasRemoved) throw new GatewayError(kind.notFound);
      return { result: undefined };
    },
  );
}

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

const MAX_PAGE_SIZE = 100;
