import type { NamedServerView } from '@behalf/contracts';
import { recorded } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { configChange } from './configChange.ts';
import { judgeChange, mayChange, type ServerChange } from './judgeChange.ts';
import { ownerView } from './ownerView.ts';
import type { ConfigureParts } from './parts.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { asUserServer, requireReachable } from './requireReachable.ts';

/** Changes a server of a user. Whatever is refused is refused before the new address hears anything. */
export function changeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
): Promise<NamedServerView> {
  const attempt = configChange(principal, { action: 'server.change', door: 'rest', server: name });
  return recorded(parts.audit, attempt, async (trail) => {
    const judged = await judgeChange(parts, principal, name, change, trail);
    const { stored, bits, definition, settings, changed } = judged;
    if (changed.length === 0) return { result: ownerView(settings, stored, bits), changed };
    if (judged.isSecurity) {
      await requireReachable(parts, asUserServer(settings, stored));
      // That took its time: what was allowed before may be so no longer.
      const again = await mayChange(parts, principal, name, trail);
      requireOboPermission(parts, again.caller, stored.definition, definition);
    }
    const next = await replace(parts, stored, definition, principal.userId);
    await parts.refreshed();
    return { result: ownerView(settings, next, bits), changed };
  });
}

async function replace(
  { stored: servers }: ConfigureParts,
  { id, tenant, name, version }: StoredDefinition,
  definition: Fields,
  by: string,
): Promise<StoredDefinition> {
  // By the version that everything above was decided on: who was faster is not overwritten.
  const outcome = await servers.change({ tenant, id, name, definition, by }, version);
  const next = outcome === 'changed' ? await servers.find(tenant, id) : null;
  if (next) return next;
  throw new GatewayError(outcome === 'version_conflict' ? 'MCP_VERSION_CONFLICT' : 'MCP_SERVER_NOT_FOUND');
}
