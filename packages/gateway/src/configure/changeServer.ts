import type { NamedServerView } from '@behalf/contracts';
import { withAudit } from '../access/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { createConfigEvent } from './configEvent.ts';
import { validateUpdate, authorizeUpdate, type ServerChange } from './validateUpdate.ts';
import { toOwnerView } from './ownerView.ts';
import type { ConfigureParts } from './parts.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { toUserServer, requireReachable } from './requireReachable.ts';

/** Changes a server of a user. Whatever is refused is refused before the new address hears anything. */
export function changeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
): Promise<NamedServerView> {
  const event = createConfigEvent(principal, { action: 'server.change', door: 'rest', server: name });
  return withAudit(parts.audit, event, async (details) => {
    const validated = await validateUpdate(parts, principal, name, change, details);
    const { stored, bits, definition, settings, changed } = validated;
    if (changed.length === 0) return { result: toOwnerView(settings, stored, bits), changed };
    if (validated.changesSecurity) {
      await requireReachable(parts, toUserServer(settings, stored));
      // That took its time: what was allowed before may be so no longer.
      const reauthorized = await authorizeUpdate(parts, principal, name, details);
      requireOboPermission(parts, reauthorized.caller, stored.definition, definition);
    }
    const updated = await replaceDefinition(parts, stored, definition, principal.userId);
    await parts.refreshRegistry();
    return { result: toOwnerView(settings, updated, bits), changed };
  });
}

async function replaceDefinition(
  { stored: servers }: ConfigureParts,
  { id, tenant, name, version }: StoredDefinition,
  definition: Fields,
  changedBy: string,
): Promise<StoredDefinition> {
  // By the version that everything above was decided on: who was faster is not overwritten.
  const outcome = await servers.change({ tenant, id, name, definition, changedBy }, version);
  const updated = outcome === 'changed' ? await servers.find(tenant, id) : null;
  if (updated) return updated;
  throw new GatewayError(outcome === 'version_conflict' ? 'MCP_VERSION_CONFLICT' : 'MCP_SERVER_NOT_FOUND');
}
