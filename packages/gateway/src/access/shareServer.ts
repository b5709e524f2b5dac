import { hasAclBit, type ShareRequest, type SharingView } from '@behalf/contracts';
import { actorOf, type Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import { isAdmin, type UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { getGrantableBits, hasOperatorSource } from './acl.ts';
import type { WithLeaseParts } from './withLease.ts';
import { getManagedServer, type ManagedServer, type ManageParts } from './managedServer.ts';
import { shareResource, viewSharing, type Shareable } from './shareResource.ts';

export interface ShareParts extends ManageParts, WithLeaseParts {
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
}

/** With whom a server is shared: for those who may share it. */
export async function getServerSharing(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
): Promise<SharingView> {
  return viewSharing(parts, principal, toShareable(principal, requireShareable(parts, principal, id)));
}

/** Shares a server, or takes that back: all of a request or nothing of it. */
export function shareServer(
  parts: ShareParts,
  principal: UserPrincipal,
  id: string,
  request: ShareRequest,
): Promise<SharingView> {
  const { roles, registry } = parts;
  const { tenant } = principal;
  const server = registry.get(tenant, id)?.name;
  const eventBase = { kind: 'permission', action: 'acl.change', server, serverId: id } as const;
  const event = { ...eventBase, tenant, actor: actorOf(principal), door: 'rest' } as const;
  const authorize = async () => {
    roles.requirePermission(principal, 'SHARE');
    return toShareable(principal, requireShareable(parts, principal, id));
  };
  return shareResource(parts, principal, { event, authorize }, request);
}

function requireShareable(parts: ShareParts, principal: UserPrincipal, id: string): ManagedServer {
  const managed = getManagedServer(parts, principal, id);
  if (!hasAclBit(managed.bits, 'SHARE')) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return managed;
}

function toShareable(principal: UserPrincipal, { server, bits }: ManagedServer): Shareable {
  return {
    ...{
      resourceId: server.id,
      callerBits: bits,
      grantableBits: getGrantableBits(server),
      isPublicByDefinition: isPublicByDefinition(server),
    },
    // An administrator can give it to somebody again.
    canRemoveLastOwner: isAdmin(principal),
    forbiddenCode: 'MCP_ACL_FORBIDDEN',
  };
}

/** By its definition. */
function isPublicByDefinition(server: ServerSnapshot): boolean {
  return hasOperatorSource(server) && server.settings.access === undefined;
}
