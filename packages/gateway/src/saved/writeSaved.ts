import { hasAclBit } from '@behalf/contracts';
import { toAclResourceId } from '../access/acl.ts';
import { withAudit, type AuditDetails } from '../access/withAudit.ts';
import { actorOf } from '../audit/audit.ts';
import { loadCurrentCaller } from '../configure/loadCurrentCaller.ts';
import { parseIfMatch } from '../configure/ifMatch.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { getCallerBits } from './findSaved.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedResource, SavedCollection, WriteSavedParts } from './parts.ts';

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
