import {
  aclBits,
  aclRoleOf,
  grants,
  type ShareRequest,
  type SharedPrincipalView,
  type SharingView,
} from '@behalf/contracts';
import { actorOf, type Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { AclRecord, UserStore } from '../ports/index.ts';
import { isAdmin, type UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { givableBits, isOperators } from './acl.ts';
import { alone, type AloneParts } from './alone.ts';
import { decideSharing } from './decideSharing.ts';
import { managedServer, type ManagedServer, type ManageParts } from './managedServer.ts';
import { recorded, type Done } from './recorded.ts';

export interface ShareParts extends ManageParts, AloneParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** With whom a server is shared: for those who may share it. */
export async function sharingOf(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  const { server } = shareable(parts, principal, id);
  return view(parts, principal, server);
}

/** Shares a server, or takes that back: all of a request or nothing of it. */
export function shareServer(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { acl, roles, registry, audit } = parts;
  const { tenant } = principal;
  const server = registry.get(tenant, id)?.name;
  const what = { kind: 'permission', action: 'acl.change', server, serverId: id } as const;
  const ask = () => {
    roles.requirePermission(principal, 'SHARE');
    return shareable(parts, principal, id);
  };

  async function share(stillAlone: () => Promise<void>): Promise<Done<SharingView>> {
    await Promise.all([acl.refresh(), roles.refresh()]);
    const managed = ask();
    const serverId = managed.server.id;
    const decision = decideSharing(
      {
        ...{ tenant, serverId, rows: await acl.rowsOf(tenant, serverId), held: managed.bits },
        ...{ givable: givableBits(managed.server), isForEverybody: isForEverybody(managed.server) },
        ...{ mayOrphan: isAdmin(principal), grantedBy: principal.userId, grantedAt: parts.clock.now() },
      },
      request,
    );
    if (decision.touchesPublic) roles.requirePermission(principal, 'SHARE_PUBLIC');
    await mustExist(parts, tenant, decision.put);
    if (decision.changed.length > 0) {
      await stillAlone();
      await acl.write(decision);
    }
    return { result: await view(parts, principal, managed.server), changed: decision.changed };
  }

  const attempt = { ...what, tenant, actor: actorOf(principal), door: 'rest' } as const;
  return recorded(audit, attempt, async () => {
    // Before, so that only those wait in line who may share; and again when it is their turn: of two owners who take it
    // from each other one comes too late.
    ask();
    return alone(parts, ['acl', tenant, id], share);
  });
}

function shareable(parts: ShareParts, principal: UserPrincipal, id: string): ManagedServer {
  const managed = managedServer(parts, principal, id);
  if (!grants(managed.bits, 'SHARE')) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return managed;
}

/** By its definition. */
function isForEverybody(server: ServerSnapshot): boolean {
  return isOperators(server) && server.settings.access === undefined;
}

/** Somebody of another tenant does not exist here. Groups are whatever tokens say, so any name may be one. */
async function mustExist(
  { users, roles }: ShareParts,
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

async function view(
  { acl, users }: ShareParts,
  { tenant }: UserPrincipal,
  server: ServerSnapshot,
): Promise<SharingView> {
  const rows = await acl.rowsOf(tenant, server.id);
  const stored = rows.find(({ principalType }) => principalType === 'public')?.bits ?? 0;
  const publicRole = aclRoleOf(isForEverybody(server) ? stored | aclBits.VIEW : stored);
  const principals = await Promise.all(rows.map((row) => describe(users, row)));
  return {
    principals: principals.flat(),
    public: publicRole !== undefined,
    ...(publicRole !== undefined && { publicAccessRoleId: publicRole }),
  };
}

async function describe(users: ShareParts['users'], row: AclRecord): Promise<SharedPrincipalView[]> {
  const { tenant, principalType: type, principalId: id, bits } = row;
  const accessRoleId = aclRoleOf(bits);
  if (type === 'public' || accessRoleId === undefined) return [];
  if (type !== 'user') return [{ type, id, name: id, accessRoleId }];
  const user = await users.findById(id);
  // Of an account that is gone only the row is left, so that it can be taken away.
  if (user?.tenant !== tenant) return [{ type, id, name: id, accessRoleId }];
  return [{ type, id, name: user.name, email: user.email, accessRoleId }];
}
