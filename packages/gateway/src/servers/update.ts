import type { NamedServerView, ServerCheckView } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { type AuditDetails, withAudit } from '../audit/withAudit.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { validateNewServer } from './create.ts';
import { type ConfigureParts, type IfMatchCondition, createConfigEvent, requireIfMatch } from './editing.ts';
import { type Fields, findChangedFields, findSecurityChanges } from './fields.ts';
import { type EditableServer, findEditable, reauthorizeWriter, requireOboPermission } from './permissions.ts';
import { type ChangeMode, addMasks, requireSameBinding, restoreMaskedSecrets } from './secrets.ts';
import { compileInput, requireMaxDepth, requireReachable, toUserServer } from './validate.ts';
import { toOwnerView } from './view.ts';

export interface ServerChange extends IfMatchCondition {
  readonly config: Fields;
  readonly mode: ChangeMode;
}

/** Changes a user's server. All checks without network access run before the new address receives a request. */
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
    if (findSecurityChanges(stored.definition, definition).length > 0) {
      await requireReachable(parts, toUserServer(settings, stored));
      // The probe takes time, so permissions are checked again.
      const reauthorized = await authorizeUpdate(parts, principal, name, details);
      requireOboPermission(parts, reauthorized.caller, stored.definition, definition);
    }
    // Compare-and-set on the version that was validated.
    const { id, tenant, version } = stored;
    const write = { tenant, id, name: stored.name, definition, changedBy: principal.userId };
    const outcome = await parts.stored.change(write, version);
    const updated = outcome === 'changed' ? await parts.stored.find(tenant, id) : null;
    if (!updated) {
      const isConflict = outcome === 'version_conflict';
      throw new GatewayError(isConflict ? 'MCP_VERSION_CONFLICT' : 'MCP_SERVER_NOT_FOUND');
    }
    await parts.refreshRegistry();
    return { result: toOwnerView(settings, updated, bits), changed };
  });
}

interface ValidatedUpdate extends EditableServer {
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** The names of the changed fields. Empty if the definition is unchanged. */
  readonly changed: readonly string[];
}

/** Runs all checks of a change except the probe. Stores nothing. */
async function validateUpdate(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  { config, mode, ifMatch }: ServerChange,
  details: AuditDetails,
): Promise<ValidatedUpdate> {
  const { caller, stored, bits } = await authorizeUpdate(parts, principal, name, details);
  requireIfMatch(ifMatch, stored.version);
  requireMaxDepth(config);
  const current = stored.definition;
  const { definition, retainedSecrets } = restoreMaskedSecrets(addMasks(config, current, mode), current);
  const settings = compileInput(name, definition);
  requireOboPermission(parts, caller, current, definition);
  requireSameBinding(retainedSecrets, current, definition);
  const changed = findChangedFields(current, definition);
  details.changed = changed;
  return { stored, bits, definition, settings, changed };
}

/** Throws unless the caller may define servers and change this one. */
async function authorizeUpdate(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  details: AuditDetails,
): Promise<EditableServer & { readonly caller: UserPrincipal }> {
  const caller = await reauthorizeWriter(parts, principal);
  const editableServer = await findEditable(parts, caller, name, 'EDIT');
  details.serverId = editableServer.stored.id;
  return { ...editableServer, caller };
}

interface ServerCheckInput extends Pick<ServerChange, 'config' | 'mode'> {
  /** The server to change; absent for a new server. */
  readonly server?: string | undefined;
}

/**
 * Runs the checks of a creation or a change, including the probe, and stores nothing. Recorded in the audit log, because
 * the gateway opens a connection and because a refused check may be an attempt to gain access.
 */
export function checkServerDefinition(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { server, ...change }: ServerCheckInput,
): Promise<ServerCheckView> {
  const event = createConfigEvent(principal, { action: 'server.check', door: 'rest', server });
  return withAudit(parts.audit, event, async (details) => {
    const validateAndProbe = async () => {
      if (server === undefined) return (await validateNewServer(parts, principal, change.config)).probe;
      // Probes even if only texts change: the caller wants to know whether the server works.
      const { settings, stored } = await validateUpdate(parts, principal, server, change, details);
      return requireReachable(parts, toUserServer(settings, stored));
    };
    const probe = await validateAndProbe();
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    const tools = probe?.tools;
    return { result: tools === undefined ? { inspected: false } : { inspected: true, tools }, changed: [] };
  });
}
