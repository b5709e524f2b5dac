import { type AuditDetails, withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { type ConfigureParts, type IfMatchCondition, createConfigEvent, requireIfMatch } from './editing.ts';
import { type RemovableServer, findRemovable, reauthorizeWriter } from './permissions.ts';

/**
 * Removes a user's server with its grants, ACL rows and users' values. Withdraws it first, so that no user can use it if
 * a later step fails; a repeated request continues the removal.
 */
export function removeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  condition: IfMatchCondition = {},
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

/** Limits the retries if other changes win the compare-and-set. */
const MAX_ATTEMPTS = 5;

/** Withdraws the version on which the checks were made. Without `If-Match`, a changed version is checked again. */
async function withdrawServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: IfMatchCondition,
  details: AuditDetails,
): Promise<Pick<RemovableServer, 'stored' | 'server'>> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
    const removable = await findRemovable(parts, principal, name);
    const { stored, isWithdrawn } = removable;
    const { id, tenant, version } = stored;
    details.serverId = id;
    // The interrupted removal has already checked the condition.
    if (isWithdrawn) return removable;
    requireIfMatch(ifMatch, version);
    const outcome = await parts.stored.withdraw({ tenant, id, changedBy: principal.userId }, version);
    if (outcome === 'withdrawn') return removable;
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
  }
  throw new GatewayError('MCP_VERSION_CONFLICT');
}
