import {
  aclBits,
  aclRoleOf,
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
import { alone, type AloneParts } from './alone.ts';
import { decideSharing } from './decideSharing.ts';
import { recorded, type Done } from './recorded.ts';
import type { Roles } from './roles.ts';

export interface ShareResourceParts extends AloneParts {
  readonly acl: Pick<Acl, 'refresh' | 'rowsOf' | 'write'>;
  readonly roles: Pick<Roles, 'refresh' | 'requirePermission' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** Something that this caller may share. */
export interface Shareable {
  /** How rows name it. */
  readonly resource: string;
  /** What the caller may do with it. */
  readonly bits: number;
  /** Which bits of it there are to have. */
  readonly givable: number;
  /** Whether it is for everybody, whatever the rows say. */
  readonly isForEverybody: boolean;
  /** Whether its last owner may go. */
  readonly mayOrphan: boolean;
  readonly denial: ErrorCode;
}

export interface Sharing {
  /** As it is written down. */
  readonly attempt: Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
    readonly kind: 'permission';
  };
  /** Whether the caller may share it, by what is known now; throws otherwise. */
  readonly ask: () => Shareable | Promise<Shareable>;
}

/** Shares something, or takes that back: all of a request or nothing of it. */
export function shareResource(
  parts: ShareResourceParts,
  principal: UserPrincipal,
  { attempt, ask }: Sharing,
  request: ShareRequest,
): Promise<SharingView> {
  const { acl, roles, audit } = parts;
  const { tenant } = principal;

  async function share(before: Shareable, stillAlone: () => Promise<void>): Promise<Done<SharingView>> {
    await Promise.all([acl.refresh(), roles.refresh()]);
    const shared = await ask();
    const { resource } = before;
    const decision = decideSharing(
      {
        ...{ tenant, serverId: resource, rows: await acl.rowsOf(tenant, resource), held: shared.bits },
        ...{ givable: shared.givable, isForEverybody: shared.isForEverybody },
        ...{ mayOrphan: shared.mayOrphan, denial: shared.denial },
        ...{ grantedBy: principal.userId, grantedAt: parts.clock.now() },
      },
      request,
    );
    if (decision.touchesPublic) roles.requirePermission(principal, 'SHARE_PUBLIC');
    await mustExist(parts, tenant, decision.put);
    if (decision.changed.length > 0) {
      await stillAlone();
      await acl.write(decision);
    }
    return { result: await viewSharing(parts, principal, shared), changed: decision.changed };
  }

  return recorded(audit, attempt, async () => {
    // Before, so that only those wait in line who may share; and again when it is their turn: of two owners who take it
    // from each other one comes too late.
    const before = await ask();
    return alone(parts, ['acl', tenant, before.resource], (stillAlone) => share(before, stillAlone));
  });
}

/** With whom it is shared. */
export async function viewSharing(
  { acl, users }: Pick<ShareResourceParts, 'acl' | 'users'>,
  { tenant }: UserPrincipal,
  { resource, isForEverybody }: Shareable,
): Promise<SharingView> {
  const rows = await acl.rowsOf(tenant, resource);
  const stored = rows.find(({ principalType }) => principalType === 'public')?.bits ?? 0;
  const publicRole = aclRoleOf(isForEverybody ? stored | aclBits.VIEW : stored);
  const principals = await Promise.all(rows.map((row) => describe(users, row)));
  return {
    principals: principals.flat(),
    public: publicRole !== undefined,
    ...(publicRole !== undefined && { publicAccessRoleId: publicRole }),
  };
}

/** Somebody of another tenant does not exist here. Groups are whatever tokens say, so any name may be one. */
async function mustExist(
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
  const errors = unknown.flat().map((who) => ({
    path: 'updated',
    code: 'unknown_principal',
    message: `There is no ${who}.`,
  }));
  if (errors.length > 0) throw new GatewayError('REQUEST_INVALID', { errors });
}

async function describe(users: ShareResourceParts['users'], row: AclRecord): Promise<SharedPrincipalView[]> {
  const { tenant, principalType: type, principalId: id, bits } = row;
  const accessRoleId = aclRoleOf(bits);
  if (type === 'public' || accessRoleId === undefined) return [];
  if (type !== 'user') return [{ type, id, name: id, accessRoleId }];
  const user = await users.findById(id);
  // Of an account that is gone only the row is left, so that it can be taken away.
  if (user?.tenant !== tenant) return [{ type, id, name: id, accessRoleId }];
  return [{ type, id, name: user.name, email: user.email, accessRoleId }];
}
