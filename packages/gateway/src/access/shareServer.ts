import { grants, type ShareRequest, type SharingView } from '@behalf/contracts';
import { actorOf, type Audit } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import { isAdmin, type UserPrincipal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import { givableBits, isOperators } from './acl.ts';
import type { AloneParts } from './alone.ts';
import { managedServer, type ManagedServer, type ManageParts } from './managedServer.ts';
import { shareResource, viewSharing, type Shareable } from './shareResource.ts';

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
  return viewSharing(parts, principal, asShareable(principal, shareable(parts, principal, id)));
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
  const what = { kind: 'permission', action: 'acl.change', server, serverId: id } as const;
  const attempt = { ...what, tenant, actor: actorOf(principal), door: 'rest' } as const;
  const ask = async () => {
    roles.requirePermission(principal, 'SHARE');
    return asShareable(principal, shareable(parts, principal, id));
  };
  return shareResource(parts, principal, { attempt, ask }, request);
}

function shareable(parts: ShareParts, principal: UserPrincipal, id: string): ManagedServer {
  const managed = managedServer(parts, principal, id);
  if (!grants(managed.bits, 'SHARE')) throw new GatewayError('MCP_ACL_FORBIDDEN');
  return managed;
}

function asShareable(principal: UserPrincipal, { server, bits }: ManagedServer): Shareable {
  return {
    ...{ resource: server.id, bits, givable: givableBits(server), isForEverybody: isForEverybody(server) },
    // An administrator can give it to somebody again.
    mayOrphan: isAdmin(principal),
    denial: 'MCP_ACL_FORBIDDEN',
  };
}

/** By its definition. */
function isForEverybody(server: ServerSnapshot): boolean {
  return isOperators(server) && server.settings.access === undefined;
}
