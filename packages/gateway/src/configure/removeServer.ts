import { recorded, type Trail } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { configChange } from './configChange.ts';
import { enterWrite } from './enterWrite.ts';
import { findRemovable } from './findEditable.ts';
import { requireMatch } from './ifMatch.ts';
import type { ConfigureParts } from './parts.ts';

interface Condition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** Who names no version removes whatever it is by now; but not while others change it faster than it can be read. */
const MOST_TRIES = 5;

/**
 * Removes a server of a user with everything that was kept for it: credentials, rights, values. It stops serving first
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
    const { id, tenant } = await withdraw(parts, caller, name, condition, trail);
    await parts.refreshed();
    await parts.credentials.removeOfServer(tenant, id);
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
): Promise<StoredDefinition> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { stored, isWithdrawn } = await findRemovable(parts, principal, name);
    const { id, tenant, version } = stored;
    trail.serverId = id;
    // The condition was met when the removal began.
    if (isWithdrawn) return stored;
    requireMatch(ifMatch, version);
    const outcome = await parts.stored.withdraw({ tenant, id, by: principal.userId }, version);
    if (outcome === 'withdrawn') return stored;
    if (outcome === 'missing') throw new GatewayError('MCP_SERVER_NOT_FOUND');
  }
  throw new GatewayError('MCP_VERSION_CONFLICT');
}
