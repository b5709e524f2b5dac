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
import { type AuditedResult, withAudit } from '../audit/withAudit.ts';
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

/** Something that this caller may share. */
export interface Shareable {
  /** How rows name it. */
  readonly resourceId: string;
  /** What the caller may do with it. */
  readonly callerBits: number;
  /** Which bits of it there are to have. */
  readonly grantableBits: number;
  /** Whether it is for everybody, whatever the rows say. */
  readonly isPublicByDefinition: boolean;
  /** Whether its last owner may go. */
  readonly canRemoveLastOwner: boolean;
  readonly forbiddenCode: ErrorCode;
}

interface ShareOperation {
  /** As it is written down. */
  readonly event: Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
    readonly kind: 'permission';
  };
  /** Whether the caller may share it, by what is known now; throws otherwise. */
  readonly authorize: () => Shareable | Promise<Shareable>;
}

/** Shares something, or takes that back: all of a request or nothing of it. */
export function shareResource(
  parts: ShareResourceParts,
  principal: UserPrincipal,
  { event, authorize }: ShareOperation,
  request: ShareRequest,
): Promise<SharingView> {
  const { acl, roles, audit } = parts;
  const { tenant } = principal;

  async function share(
    initial: Shareable,
    assertLeaseHeld: () => Promise<void>,
  ): Promise<AuditedResult<SharingView>> {
    await Promise.all([acl.refresh(), roles.refresh()]);
    const current = await authorize();
    const { resourceId } = initial;
    const decision = decideSharing(
      {
        ...{
          tenant,
          serverId: resourceId,
          rows: await acl.listRows(tenant, resourceId),
          callerBits: current.callerBits,
        },
        ...{ grantableBits: current.grantableBits, isPublicByDefinition: current.isPublicByDefinition },
        ...{ canRemoveLastOwner: current.canRemoveLastOwner, forbiddenCode: current.forbiddenCode },
        ...{ grantedBy: principal.userId, grantedAt: parts.clock.now() },
      },
      request,
    );
    if (decision.widensPublicAccess) roles.requirePermission(principal, 'SHARE_PUBLIC');
    await requirePrincipalsExist(parts, tenant, decision.put);
    if (decision.changed.length > 0) {
      await assertLeaseHeld();
      await acl.write(decision);
    }
    return { result: await viewSharing(parts, principal, current), changed: decision.changed };
  }

  return withAudit(audit, event, async () => {
    // Before, so that only those wait in line who may share; and again when it is their turn: of two owners who take it
    // from each other one comes too late.
    const initial = await authorize();
    return withMaintenanceLease(parts, ['acl', tenant, initial.resourceId], (assertLeaseHeld) =>
      share(initial, assertLeaseHeld),
    );
  });
}

/** With whom it is shared. */
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

/** Somebody of another tenant does not exist here. Groups are whatever tokens say, so any name may be one. */
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
  if (type !== 'user') return [{ type, id, name: id, accessRoleId }];
  const user = await users.findById(id);
  // Of an account that is gone only the row is left, so that it can be taken away.
  if (user?.tenant !== tenant) return [{ type, id, name: id, accessRoleId }];
  return [{ type, id, name: user.name, email: user.email, accessRoleId }];
}

/** What the decision rests on. */
interface SharingContext {
  readonly tenant: string;
  readonly serverId: string;
  /** As they are now. */
  readonly rows: readonly AclRecord[];
  /** What the caller may do with it: nobody gives or takes what they do not have. */
  readonly callerBits: number;
  /** Which bits of it there are to have. */
  readonly grantableBits: number;
  /** Whether the definition is for everybody, whatever the rows say. */
  readonly isPublicByDefinition: boolean;
  /** Whether the last owner may go: an administrator can give it to somebody again. */
  readonly canRemoveLastOwner: boolean;
  /** What somebody is told who gives or takes what they do not have. */
  readonly forbiddenCode: ErrorCode;
  readonly grantedBy: string;
  readonly grantedAt: number;
}

interface SharingDecision {
  readonly put: readonly AclRecord[];
  readonly remove: readonly string[];
  /** Who is concerned, such as `user:<id>`. */
  readonly changed: readonly string[];
  /** Whether more becomes public than was, or something else: by the word, or by the role that everybody begins with. */
  readonly widensPublicAccess: boolean;
}

const MAX_ROWS = 500;

/** What a request would write, or why it must not. */
function decideSharing(sharing: SharingContext, request: ShareRequest): SharingDecision {
  const { tenant, serverId, callerBits, grantableBits, grantedBy, grantedAt } = sharing;
  const rows = new Map(sharing.rows.map((row) => [row.id, row]));
  const toKey = (principalType: AclKey['principalType'], principalId: string): AclKey => ({
    ...{ tenant, serverId, principalType, principalId },
  });
  const put: AclRecord[] = [];
  const remove: string[] = [];

  function grant(key: AclKey, bits: number): void {
    const id = aclId(key);
    const before = rows.get(id)?.bits ?? 0;
    if (before === bits) return;
    if (((bits | (before & grantableBits)) & ~callerBits) !== 0)
      throw new GatewayError(sharing.forbiddenCode);
    put.push({ ...key, id, bits, grantedBy, grantedAt });
  }

  function revoke(key: AclKey): void {
    const id = aclId(key);
    const before = rows.get(id);
    if (!before) return;
    if ((before.bits & grantableBits & ~callerBits) !== 0) throw new GatewayError(sharing.forbiddenCode);
    remove.push(id);
  }

  requireUnique([...request.updated, ...request.removed]);
  for (const { type, id, accessRoleId } of request.updated) grant(toKey(type, id), aclRoles[accessRoleId]);
  for (const { type, id } of request.removed) revoke(toKey(type, id));

  const everyoneKey = toKey('public', '');
  if (!request.public && sharing.isPublicByDefinition) {
    throw new GatewayError('MCP_SERVER_MANAGED', {
      detail: 'The definition already grants access to all users.',
    });
  }
  const publicBits = request.public ? aclRoles[request.publicAccessRoleId ?? 'mcpServer_viewer'] : 0;
  const isAlreadyPublic = sharing.isPublicByDefinition && publicBits === aclRoles.mcpServer_viewer;
  if (publicBits === 0) revoke(everyoneKey);
  else if (!isAlreadyPublic) grant(everyoneKey, publicBits);

  const after = new Map(rows);
  for (const row of put) after.set(row.id, row);
  for (const id of remove) after.delete(id);
  if (after.size > MAX_ROWS) {
    throw createInvalidError('updated', 'too_many', `It can be shared with at most ${MAX_ROWS} principals.`);
  }
  if (!sharing.canRemoveLastOwner && hasOwner(rows) && !hasOwner(after)) {
    throw createInvalidError('removed', 'last_owner', 'At least one user must remain owner.');
  }
  const removedRows = remove.flatMap((id) => rows.get(id) ?? []);
  return {
    put,
    remove,
    changed: [...put, ...removedRows].map(formatPrincipal),
    widensPublicAccess: put.some(grantsEveryone),
  };
}

function grantsEveryone({ principalType, principalId }: AclRecord): boolean {
  return principalType === 'public' || (principalType === 'role' && principalId === 'USER');
}

/** Who is named twice could be meant either way. */
function requireUnique(principals: readonly { type: SharedWith; id: string }[]): void {
  const seen = new Set<string>();
  for (const { type, id } of principals) {
    const name = JSON.stringify([type, id]);
    if (seen.has(name)) throw createInvalidError('updated', 'duplicate', `${type} ${id} is listed twice.`);
    seen.add(name);
  }
}

/** A user who may share it. Groups come and go with tokens, and roles with administrators. */
function hasOwner(rows: ReadonlyMap<string, AclRecord>): boolean {
  return [...rows.values()].some(
    ({ principalType, bits }) => principalType === 'user' && hasAclBit(bits, 'SHARE'),
  );
}

function formatPrincipal({ principalType, principalId }: AclRecord): string {
  return principalType === 'public' ? 'public' : `${principalType}:${principalId}`;
}

function createInvalidError(path: string, code: string, message: string): GatewayError {
  return new GatewayError('REQUEST_INVALID', { detail: message, errors: [{ path, code, message }] });
}
