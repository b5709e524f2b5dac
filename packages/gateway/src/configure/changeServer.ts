import type { NamedServerView } from '@behalf/contracts';
import { recorded, type Trail } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { changedFields, changedSecurity, type Fields } from '../registry/canonical.ts';
import type { StoredDefinition } from '../registry/storedServers.ts';
import { configChange } from './configChange.ts';
import { enterWrite } from './enterWrite.ts';
import { findEditable } from './findEditable.ts';
import { requireMatch } from './ifMatch.ts';
import { fillMasks, requireSameBinding, withMasks, type ChangeMode } from './keptSecrets.ts';
import { ownerView } from './ownerView.ts';
import type { ConfigureParts } from './parts.ts';
import { readInput, requireFlat } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { asUserServer, requireReachable } from './requireReachable.ts';
import { requireTarget } from './requireTarget.ts';

export interface ServerChange {
  readonly config: Readonly<Record<string, unknown>>;
  readonly mode: ChangeMode;
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** Changes a server of a user. Whatever is refused is refused before the new address hears anything. */
export function changeServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
): Promise<NamedServerView> {
  const attempt = configChange(principal, { action: 'server.change', door: 'rest', server: name });
  return recorded(parts.audit, attempt, async (trail) => {
    const { caller, stored, bits } = await mayChange(parts, principal, name, trail);
    requireMatch(change.ifMatch, stored.version);
    requireFlat(change.config);
    const before = stored.definition;
    const { definition, kept } = fillMasks(withMasks(change.config, before, change.mode), before);
    const settings = readInput(name, definition);
    requireOboPermission(parts, caller, before, definition);
    requireSameBinding(kept, before, definition);
    const changed = changedFields(before, definition);
    trail.changed = changed;
    if (changed.length === 0) return { result: ownerView(settings, stored, bits), changed };
    if (changedSecurity(before, definition).length > 0) {
      requireTarget(parts, { source: 'user', settings }, { isElsewhere: true });
      await requireReachable(parts, asUserServer(settings, stored));
      // That took its time: what was allowed before may be so no longer.
      const again = await mayChange(parts, principal, name, trail);
      requireOboPermission(parts, again.caller, before, definition);
    }
    const next = await replace(parts, stored, definition, principal.userId);
    await parts.refreshed();
    return { result: ownerView(settings, next, bits), changed };
  });
}

async function mayChange(parts: ConfigureParts, principal: UserPrincipal, name: string, trail: Trail) {
  const caller = await enterWrite(parts, principal);
  const editable = await findEditable(parts, caller, name, 'EDIT');
  trail.serverId = editable.stored.id;
  return { ...editable, caller };
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
