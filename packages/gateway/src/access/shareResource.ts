import {
  aclBits,
  findAclRole,
  type ErrorCode,
  type ShareRequest,
  type SharedPrincipalView,
  type SharingView,
} from '@behalf/contracts';
import type { Audit, AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AclRecord, UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Acl } from './acl.ts';
import { withLease, type WithLeaseParts } from './withLease.ts';
import { decideSharing } from './decideSharing.ts';
import { withAudit, type AuditedResult } from './withAudit.ts';
import type { Roles } from './roles.ts';

export interface ShareResourceParts extends WithLeaseParts {
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

export interface ShareOperation {
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
    return withLease(parts, ['acl', tenant, initial.resourceId], (assertLeaseHeld) =>
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
