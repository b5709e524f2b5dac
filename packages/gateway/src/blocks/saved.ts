import {
  ALL_ACL_BITS,
  type AclBit,
  type ShareRequest,
  type SharingView,
  aclBits,
  hasAclBit,
} from '@behalf/contracts';
import { type Random, stableStringify } from '@behalf/kernel';
import { type Acl, toAclResourceId } from '../access/acl.ts';
import type { Roles } from '../access/roles.ts';
import { type Shareable, shareResource, viewSharing } from '../access/shareResource.ts';
import { type Audit, actorOf } from '../audit/audit.ts';
import { type AuditDetails, withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import { type Principal, type UserPrincipal, isAdmin } from '../principal/principal.ts';
import type { LeaseParts } from '../replication/withLease.ts';
import { parseIfMatch } from '../servers/editing.ts';
import { loadCurrentCaller } from '../servers/permissions.ts';
import type { SavedResource, SavedStore } from './store.ts';

/**
 * Access to saved blocks and sets: the same code for both kinds.
 *
 * Invariants:
 * - A resource that the caller may not see is reported as missing.
 * - A write is authorized with the account, the role and the access list as the store has them now, not with cached values.
 * - Content is user input, so an administrator sees only what is shared with them. They may remove all of that, because a
 *   resource that is shared with all users runs in the name of each of them.
 * - Sharing a resource grants no server, no credential, and for a set none of its blocks.
 */
export interface SavedCollection<T extends SavedResource> {
  /** Null if it does not exist or is not visible to the caller. */
  find(principal: Principal, id: string): Promise<VisibleResource<T> | null>;
  /** Throws if it is not visible, or if the caller lacks the permission bit. */
  require(principal: Principal, id: string, bit?: AclBit): Promise<VisibleResource<T>>;
  /** The caller's own and those that are shared with the caller, ordered by id. */
  list(
    principal: Principal,
    query?: { readonly limit?: number | undefined; readonly after?: string | undefined },
  ): Promise<{ visible: VisibleResource<T>[]; next: string | null }>;
  /** `build` returns the content. `server` is for the audit event. */
  create(
    principal: UserPrincipal,
    event: { readonly server?: string },
    build: (caller: UserPrincipal, details: AuditDetails) => Promise<Omit<T, keyof SavedResource>>,
  ): Promise<WrittenResource<T>>;
  /** Writes the result of `apply` as the next version, unless nothing changed. */
  change(
    principal: UserPrincipal,
    id: string,
    condition: WriteCondition,
    apply: (resource: T, caller: UserPrincipal) => Promise<T>,
  ): Promise<WrittenResource<T>>;
  remove(principal: UserPrincipal, id: string, condition?: WriteCondition): Promise<void>;
  viewSharing(principal: UserPrincipal, id: string): Promise<SharingView>;
  share(principal: UserPrincipal, id: string, request: ShareRequest): Promise<SharingView>;
}

export interface VisibleResource<T> {
  readonly resource: T;
  readonly bits: number;
}

/** `caller`: the principal with the role that the account has now. */
export interface WrittenResource<T> extends VisibleResource<T> {
  readonly caller: UserPrincipal;
}

export interface WriteCondition {
  /** The `If-Match` header of the request. */
  readonly ifMatch?: string | undefined;
}

export interface SavedParts extends LeaseParts {
  readonly acl: Acl;
  readonly roles: Pick<Roles, 'requirePermission' | 'refresh' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
  readonly random: Random;
}

const MAX_PAGE_SIZE = 100;

export function createSavedCollection<T extends SavedResource>(
  parts: SavedParts,
  store: SavedStore<T>,
): SavedCollection<T> {
  const { acl, roles, users, audit, clock, random } = parts;
  const { kind } = store;

  const addAdminBits = (principal: Principal, bits: number) =>
    isAdmin(principal) && hasAclBit(bits, 'VIEW') ? bits | aclBits.DELETE : bits;
  const getBits = (principal: Principal, id: string) =>
    addAdminBits(principal, acl.getSavedBits(principal, kind.name, id));

  async function find(principal: Principal, id: string): Promise<VisibleResource<T> | null> {
    roles.requirePermission(principal, 'USE');
    const bits = getBits(principal, id);
    if (!hasAclBit(bits, 'VIEW')) return null;
    const resource = await store.find(principal.tenant, id);
    return resource && { resource, bits };
  }

  async function requireVisible(
    principal: Principal,
    id: string,
    bit: AclBit = 'VIEW',
  ): Promise<VisibleResource<T>> {
    const visible = await find(principal, id);
    if (!visible) throw new GatewayError(kind.notFound);
    if (!hasAclBit(visible.bits, bit)) throw new GatewayError(kind.forbidden);
    return visible;
  }

  async function reauthorize(principal: UserPrincipal): Promise<UserPrincipal> {
    const [caller] = await Promise.all([
      loadCurrentCaller({ users }, principal),
      acl.refresh(),
      roles.refresh(),
    ]);
    roles.requirePermission(caller, 'USE');
    return caller;
  }

  function createEvent(principal: UserPrincipal, action: 'create' | 'change' | 'delete' | 'share') {
    const { tenant } = principal;
    return { action: `${kind.name}.${action}`, door: 'rest', tenant, actor: actorOf(principal) } as const;
  }

  async function requireShareable(principal: UserPrincipal, id: string): Promise<Shareable> {
    const { bits } = await requireVisible(principal, id, 'SHARE');
    return {
      ...{ resourceId: toAclResourceId(kind.name, id), callerBits: bits, grantableBits: ALL_ACL_BITS },
      // Without an owner, no user could grant access again.
      ...{ isPublicByDefinition: false, canRemoveLastOwner: false, forbiddenCode: kind.forbidden },
    };
  }

  return {
    find,
    require: requireVisible,
    async list(principal, { limit = MAX_PAGE_SIZE, after } = {}) {
      roles.requirePermission(principal, 'USE');
      const bitsById = acl.listSavedBits(principal, kind.name);
      const ids = [...bitsById]
        .filter(([id, bits]) => hasAclBit(bits, 'VIEW') && (after === undefined || id > after))
        .map(([id]) => id)
        .sort();
      const page = ids.slice(0, Math.min(limit, MAX_PAGE_SIZE));
      const resources = await store.findMany(principal.tenant, page);
      const visible = resources.map((resource) => ({
        resource,
        bits: addAdminBits(principal, bitsById.get(resource.id) ?? 0),
      }));
      return { visible, next: page.length < ids.length ? (page.at(-1) ?? null) : null };
    },
    create(principal, { server }, build) {
      const event = { ...createEvent(principal, 'create'), kind: 'config', server } as const;
      return withAudit(audit, event, async (details) => {
        const caller = await reauthorize(principal);
        const content = await build(caller, details);
        const { tenant, userId: owner } = caller;
        const now = clock.now();
        const base: SavedResource = {
          ...{ id: random.id(), tenant, owner, version: 1 },
          ...{ createdAt: now, updatedAt: now, updatedBy: owner },
        };
        const resource = { ...base, ...content } as T;
        details.subject = base.id;
        // The owner's permission comes first: a resource without one could not be removed.
        const aclResourceId = toAclResourceId(kind.name, base.id);
        await acl.grantOwner({ tenant, id: aclResourceId }, owner);
        try {
          await store.insert(resource);
        } catch (error) {
          await acl.removeServer(tenant, aclResourceId);
          throw error;
        }
        return { result: { resource, bits: ALL_ACL_BITS, caller } };
      });
    },
    change(principal, id, { ifMatch }, apply) {
      const event = { ...createEvent(principal, 'change'), kind: 'config', subject: id } as const;
      return withAudit(audit, event, async (details) => {
        const caller = await reauthorize(principal);
        const { resource, bits } = await requireVisible(caller, id, 'EDIT');
        Object.assign(details, kind.toAuditDetails(resource));
        requireVersion(ifMatch, resource.version);
        const next = await apply(resource, caller);
        const changed = kind.contentFields.filter(
          (name) => stableStringify(resource[name]) !== stableStringify(next[name]),
        );
        if (changed.length === 0) return { result: { resource, bits, caller }, changed };
        const update = { version: resource.version + 1, updatedAt: clock.now(), updatedBy: caller.userId };
        const updated = { ...next, ...update };
        await store.replace(updated, resource.version);
        return { result: { resource: updated, bits, caller }, changed };
      });
    },
    remove(principal, id, { ifMatch } = {}) {
      const event = { ...createEvent(principal, 'delete'), kind: 'config', subject: id } as const;
      return withAudit(audit, event, async (details) => {
        const caller = await reauthorize(principal);
        const { tenant } = caller;
        const bits = getBits(caller, id);
        if (!hasAclBit(bits, 'VIEW')) throw new GatewayError(kind.notFound);
        if (!hasAclBit(bits, 'DELETE')) throw new GatewayError(kind.forbidden);
        // A record that does not open can be removed, too.
        const resource = await store.find(tenant, id);
        if (resource) {
          Object.assign(details, kind.toAuditDetails(resource));
          requireVersion(ifMatch, resource.version);
        }
        const isRemoved = await store.remove(tenant, id);
        // The access list comes last: after a failure in between, a second removal finishes the work.
        await acl.removeServer(tenant, toAclResourceId(kind.name, id));
        if (!isRemoved) throw new GatewayError(kind.notFound);
        return { result: undefined };
      });
    },
    viewSharing: async (principal, id) =>
      viewSharing(parts, principal, await requireShareable(principal, id)),
    share(principal, id, request) {
      const event = { ...createEvent(principal, 'share'), kind: 'permission', subject: id } as const;
      const authorize = () => {
        roles.requirePermission(principal, 'SHARE');
        return requireShareable(principal, id);
      };
      return shareResource(parts, principal, { event, authorize }, request);
    },
  };
}

/** VERSION_CONFLICT unless the `If-Match` condition names this version. */
export function requireVersion(ifMatch: string | undefined, version: number): void {
  const versions = parseIfMatch(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('VERSION_CONFLICT');
}
