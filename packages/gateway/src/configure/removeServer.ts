import { recorded, type Trail } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { configChange } from './configChange.ts';
import { enterWrite } from './enterWrite.ts';
import { findRemovable, type Removable } from './findEditable.ts';
import { requireMatch } from './ifMatch.ts';
import type { ConfigureParts } from './parts.ts';

interface Condition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** Who names no version removes whatever it is by now; but not while others change it faster than it can be read. */
const MOST_TRIES = 5;

/**
 * Removes a server of a user with everything that was kept for it: grants, rights, values. It stops serving first
 * and goes last: whatever fails in between, nobody uses it any more, and removing it again finishes the work.
 */
export function removeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  condition: Condition = {},
): Promise<void> {
  const attempt = configChange(principal, { action: 'server.delete', door: 'rest', server: name });
  return recorded(parts.audit, attempt, async (trail) => {
    const caller = await enterWrite(parts, principal);
    const { stored, server } = await withdraw(parts, caller, name, condition, trail);
    const { id, tenant } = stored;
    await parts.refreshed();
    await parts.grants.removeAll(tenant, server);
    await parts.acl.removeServer(tenant, id);
    if (!(await parts.stored.remove(tenant, id))) throw new GatewayError('MCP_SERVER_NOT_FOUND');
    await parts.refreshed();
    return { result: undefined };
  });
}

/** By the version that it was decided on, as one step for all processes. */
async function withdraw(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  { ifMatch }: Condition,
  trail: Trail,
): Promise<Pick<Removable, 'stored' | 'server'>> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = await findRemovable(parts, principal, name);
    const { stored, isWithdrawn } = found;
    const { id, tenant, version } = stored;
    trail.serverId = id;
    // The condition was met when the removal began.
    if (isWithdrawn) return found;
    requireMatch(ifMatch, version);
    const outcome = await parts.stored.withdraw({ tenant, id, by: principal.userId }, version);
    if (outcome === 'withdrawn') return found;
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
  }
  throw new GatewayError('MCP_VERSION_CONFLICT');
}
