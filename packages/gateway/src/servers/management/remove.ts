import { type AuditDetails, withAudit } from '../../audit/withAudit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type ConfigureParts, createConfigEvent, requireIfMatch } from './editing.ts';
import { type RemovableServer, findRemovable, reauthorizeWriter } from './permissions.ts';

interface RemoveCondition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** Who names no version removes whatever it is by now; but not while others change it faster than it can be read. */
const MAX_ATTEMPTS = 5;

/**
 * Removes a server of a user with everything that was kept for it: grants, rights, values. It stops serving first
 * and goes last: whatever fails in between, nobody uses it any more, and removing it again finishes the work.
 */
export function removeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  condition: RemoveCondition = {},
): Promise<void> {
  const event = createConfigEvent(principal, { action: 'server.delete', door: 'rest', server: name });
  return withAudit(parts.audit, event, async (details) => {
    const caller = await reauthorizeWriter(parts, principal);
    const { stored, server } = await withdrawServer(parts, caller, name, condition, details);
    const { id, tenant } = stored;
    await parts.refreshRegistry();
    await parts.grants.removeAll(tenant, server);
    await parts.acl.removeServer(tenant, id);
    if (!(await parts.stored.remove(tenant, id))) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    await parts.refreshRegistry();
    return { result: undefined };
  });
}

/** By the version that it was decided on, as one step for all processes. */
async function withdrawServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: RemoveCondition,
  details: AuditDetails,
): Promise<Pick<RemovableServer, 'stored' | 'server'>> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const removable = await findRemovable(parts, principal, name);
    const { stored, isWithdrawn } = removable;
    const { id, tenant, version } = stored;
    details.serverId = id;
    // The condition was met when the removal began.
    if (isWithdrawn) return removable;
    requireIfMatch(ifMatch, version);
    const outcome = await parts.stored.withdraw({ tenant, id, changedBy: principal.userId }, version);
    if (outcome === 'withdrawn') return removable;
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
  }
  throw new GatewayError('MCP_VERSION_CONFLICT');
}
