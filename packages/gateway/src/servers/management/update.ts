import type { NamedServerView, ServerCheckView } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { type AuditDetails, withAudit } from '../../audit/withAudit.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import { type Fields, findChangedFields, findSecurityChanges } from '../fields.ts';
import type { StoredDefinition } from '../stored.ts';
import { validateNewServer } from './create.ts';
import { type ConfigureParts, type ServerProbe, createConfigEvent, requireIfMatch } from './editing.ts';
import { type EditableServer, findEditable, reauthorizeWriter, requireOboPermission } from './permissions.ts';
import { type ChangeMode, addMasks, requireSameBinding, restoreMaskedSecrets } from './secrets.ts';
import { compileInput, requireMaxDepth, requireReachable, toUserServer } from './validate.ts';
import { toOwnerView } from './view.ts';

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

export interface ServerChange {
  readonly config: Fields;
  readonly mode: ChangeMode;
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** A change that may be made, but for what is found at the new address. */
interface ValidatedUpdate extends EditableServer {
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** The names of the fields; none when it says what is there already. */
  readonly changed: readonly string[];
  /** More than texts: then it is looked at before it is stored. */
  readonly changesSecurity: boolean;
}

/** Everything that can be asked about a change before anybody else hears of it. Nothing of it is stored. */
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
  const changesSecurity = findSecurityChanges(current, definition).length > 0;
  return { stored, bits, definition, settings, changed, changesSecurity };
}

/** Who may define servers, and change this one. */
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

export interface ServerCheckInput extends Pick<ServerChange, 'config' | 'mode'> {
  /** The server that would be changed; absent: a new one. */
  readonly server?: string | undefined;
}

/**
 * Whether a server could be saved like this, by the same questions. Nothing changes; that it was asked is told all the
 * same, because a server was looked at, and because somebody who may not may be trying.
 */
export function checkServerDefinition(
  parts: ConfigureParts,
  principal: UserPrincipal,
  { server, ...change }: ServerCheckInput,
): Promise<ServerCheckView> {
  const event = createConfigEvent(principal, { action: 'server.check', door: 'rest', server });
  return withAudit(parts.audit, event, async (details) => {
    const probe =
      server === undefined
        ? (await validateNewServer(parts, principal, change.config)).probe
        : await probeChange(parts, principal, server, change, details);
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    const tools = probe?.tools;
    return { result: tools === undefined ? { inspected: false } : { inspected: true, tools }, changed: [] };
  });
}

/** Also where nothing but texts would change: who asks wants to know whether it works. */
async function probeChange(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  change: ServerChange,
  details: AuditDetails,
): Promise<ServerProbe | null> {
  const { settings, stored } = await validateUpdate(parts, principal, name, change, details);
  return requireReachable(parts, toUserServer(settings, stored));
}
