import {
  type ErrorCode,
  type ShareRequest,
  type SharedPrincipalView,
  type SharedWith,
  type SharingView,
  aclBits,
  aclRoles,
  findAclRole,
  hasAclBit,
} from '@behalf/contracts';
import type { Audit, AuditEvent } from '../audit/audit.ts';
import { withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type AclKey, type AclRecord, type UserStore, aclId } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { type LeaseParts, withMaintenanceLease } from '../replication/withLease.ts';
import type { Acl } from './acl.ts';
import type { Roles } from './roles.ts';

interface ShareResourceParts extends LeaseParts {
  readonly acl: Pick<Acl, 'refresh' | 'listRows' | 'write'>;
  readonly roles: Pick<Roles, 'refresh' | 'requirePermission' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** A server, block or set that the caller may share. */
export interface Shareable {
  /** The resource id in the ACL rows. */
  readonly resourceId: string;
  /** The bits of the caller. A caller cannot grant or revoke bits that the caller lacks. */
  readonly callerBits: number;
  /** The bits that can be granted on this resource. */
  readonly grantableBits: number;
  /** Whether all users have access regardless of the rows. */
  readonly isPublicByDefinition: boolean;
  /** Whether the resource may lose its last owner. */
  readonly canRemoveLastOwner: boolean;
  /** The error code for a caller who grants or revokes bits that the caller lacks. */
  readonly forbiddenCode: ErrorCode;
}

interface ShareOperation {
  readonly event: Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
    readonly kind: 'permission';
  };
  /** Throws unless the caller may share the resource according to the current roles and rows. */
  readonly authorize: () => Shareable | Promise<Shareable>;
}

/** Applies a sharing request atomically. */
export function shareResource(
  parts: ShareResourceParts,
  principal: UserPrincipal,
  { event, authorize }: ShareOperation,
  request: ShareRequest,
): Promise<SharingView> {
  const { acl, roles, audit } = parts;
  const { tenant } = principal;
  return withAudit(audit, event, async () => {
    // The first check keeps unauthorized callers from waiting for the lease. The check under the lease decides: if two
    // owners revoke each other's access at the same time, the second one must fail.
    const initial = await authorize();
    return withMaintenanceLease(parts, ['acl', tenant, initial.resourceId], async (assertLeaseHeld) => {
      await Promise.all([acl.refresh(), roles.refresh()]);
      const current = await authorize();
      const rows = await acl.listRows(tenant, current.resourceId);
      const decision = decideSharing(current, rows, request, {
        ...{ tenant, grantedBy: principal.userId, grantedAt: parts.clock.now() },
      });
      if (decision.widensPublicAccess) roles.requirePermission(principal, 'SHARE_PUBLIC');
      await requirePrincipalsExist(parts, tenant, decision.put);
      if (decision.changed.length > 0) {
        await assertLeaseHeld();
        await acl.write(decision);
      }
      return { result: await viewSharing(parts, principal, current), changed: decision.changed };
    });
  });
}

/** The principals with whom a resource is shared. */
export async function viewSharing(
  { acl, users }: Pick<ShareResourceParts, 'acl' | 'users'>,
  { tenant }: UserPrincipal,
  { resourceId, isPublicByDefinition }: Shareable,
): Promise<SharingView> {
  const rows = await acl.listRows(tenant, resourceId);
  const stored = rows.find(({ principalType }) => principalType === 'public')?.bits ?? 0;
  const publicRole = findAclRole(isPublicByDefinition ? stored | aclBits.VIEW : stored);
  const principals = await Promise.all(rows.map((row) => toPrincipalView(users, row)));
  return {
    principals: principals.flat(),
    public: publicRole !== undefined,
    ...(publicRole !== undefined && { publicAccessRoleId: publicRole }),
  };
}

/** Accounts of other tenants do not exist here. Group names come from tokens, so any name is accepted. */
async function requirePrincipalsExist(
  { users, roles }: ShareResourceParts,
  tenant: string,
  rows: readonly AclRecord[],
): Promise<void> {
  const unknown = await Promise.all(
    rows.map(async ({ principalType, principalId }) => {
      if (principalType === 'role') return roles.exists(tenant, principalId) ? [] : [`role ${principalId}`];
      if (principalType !== 'user') return [];
      return (await users.findById(principalId))?.tenant === tenant ? [] : [`user ${principalId}`];
    }),
  );
  const errors = unknown.flat().map((principal) => ({
    path: 'updated',
    code: 'unknown_principal',
    message: `There is no ${principal}.`,
  }));
  if (errors.length > 0) throw new GatewayError('REQUEST_INVALID', { errors });
}

async function toPrincipalView(
  users: ShareResourceParts['users'],
  row: AclRecord,
): Promise<SharedPrincipalView[]> {
  const { tenant, principalType: type, principalId: id, bits } = row;
  const accessRoleId = findAclRole(bits);
  if (type === 'public' || accessRoleId === undefined) return [];
  const user = type === 'user' ? await users.findById(id) : null;
  // The row of a deleted account stays visible, so that it can be removed.
  if (user?.tenant !== tenant) return [{ type, id, name: id, accessRoleId }];
  return [{ type, id, name: user.name, email: user.email, accessRoleId }];
}

interface SharingDecision {
  readonly put: readonly AclRecord[];
  readonly remove: readonly string[];
  /** The affected principals, such as `user:<id>`. */
  readonly changed: readonly string[];
  /** Whether the change grants access to everyone: through the public row or the default role USER. */
  readonly widensPublicAccess: boolean;
}

const MAX_ROWS = 500;

/** Computes the rows to write, or throws if the caller may not make the change. */
function decideSharing(
  { resourceId, callerBits, grantableBits, ...shareable }: Shareable,
  currentRows: readonly AclRecord[],
  request: ShareRequest,
  { tenant, ...grantFields }: Pick<AclRecord, 'tenant' | 'grantedBy' | 'grantedAt'>,
): SharingDecision {
  const rows = new Map(currentRows.map((row) => [row.id, row]));
  const toKey = (principalType: AclKey['principalType'], principalId: string): AclKey => ({
    ...{ tenant, serverId: resourceId, principalType, principalId },
  });
  const put: AclRecord[] = [];
  const remove: string[] = [];

  function grant(key: AclKey, bits: number): void {
    const id = aclId(key);
    const before = rows.get(id)?.bits ?? 0;
    if (before === bits) return;
    if (((bits | (before & grantableBits)) & ~callerBits) !== 0)
      throw new GatewayError(shareable.forbiddenCode);
    put.push({ ...key, ...grantFields, id, bits });
  }

  function revoke(key: AclKey): void {
    const id = aclId(key);
    const before = rows.get(id);
    if (!before) return;
    if ((before.bits & grantableBits & ~callerBits) !== 0) throw new GatewayError(shareable.forbiddenCode);
    remove.push(id);
  }

  requireUnique([...request.updated, ...request.removed]);
  for (const { type, id, accessRoleId } of request.updated) grant(toKey(type, id), aclRoles[accessRoleId]);
  for (const { type, id } of request.removed) revoke(toKey(type, id));

  const publicKey = toKey('public', '');
  if (!request.public && shareable.isPublicByDefinition) {
    throw new GatewayError('MCP_SERVER_MANAGED', {
      detail: 'The definition already grants access to all users.',
    });
  }
  const publicBits = request.public ? aclRoles[request.publicAccessRoleId ?? 'mcpServer_viewer'] : 0;
  const isAlreadyPublic = shareable.isPublicByDefinition && publicBits === aclRoles.mcpServer_viewer;
  if (publicBits === 0) revoke(publicKey);
  else if (!isAlreadyPublic) grant(publicKey, publicBits);

  const after = new Map(rows);
  for (const row of put) after.set(row.id, row);
  for (const id of remove) after.delete(id);
  if (after.size > MAX_ROWS) {
    throw createInvalidError('updated', 'too_many', `It can be shared with at most ${MAX_ROWS} principals.`);
  }
  if (!shareable.canRemoveLastOwner && hasOwner(rows) && !hasOwner(after)) {
    throw createInvalidError('removed', 'last_owner', 'At least one user must remain owner.');
  }
  const removedRows = remove.flatMap((id) => rows.get(id) ?? []);
  return {
    put,
    remove,
    changed: [...put, ...removedRows].map(({ principalType, principalId }) =>
      principalType === 'public' ? 'public' : `${principalType}:${principalId}`,
    ),
    widensPublicAccess: put.some(
      ({ principalType, principalId }) =>
        principalType === 'public' || (principalType === 'role' && principalId === 'USER'),
    ),
  };
}

function requireUnique(principals: readonly { type: SharedWith; id: string }[]): void {
  const seen = new Set<string>();
  for (const { type, id } of principals) {
    const name = JSON.stringify([type, id]);
    if (seen.has(name)) throw createInvalidError('updated', 'duplicate', `${type} ${id} is listed twice.`);
    seen.add(name);
  }
}

/** Whether a user, not only a group or a role, may share the resource. Tokens and administrators change groups and roles. */
function hasOwner(rows: ReadonlyMap<string, AclRecord>): boolean {
  return [...rows.values()].some(
    ({ principalType, bits }) => principalType === 'user' && hasAclBit(bits, 'SHARE'),
  );
}

function createInvalidError(path: string, code: string, message: string): GatewayError {
  return new GatewayError('REQUEST_INVALID', { detail: message, errors: [{ path, code, message }] });
}
