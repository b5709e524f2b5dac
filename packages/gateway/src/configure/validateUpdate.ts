import type { ServerSettings } from '@behalf/settings';
import type { AuditDetails } from '../access/withAudit.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { findChangedFields, findSecurityChanges, type Fields } from '../registry/canonicalFields.ts';
import { reauthorizeWriter } from './reauthorizeWriter.ts';
import { findEditable, type EditableServer } from './findEditable.ts';
import { requireIfMatch } from './ifMatch.ts';
import { restoreMaskedSecrets, requireSameBinding, addMasks, type ChangeMode } from './secretMasks.ts';
import type { ConfigureParts } from './parts.ts';
import { compileInput, requireMaxDepth } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';

export interface ServerChange {
  readonly config: Fields;
  readonly mode: ChangeMode;
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** A change that may be made, but for what is found at the new address. */
export interface ValidatedUpdate extends EditableServer {
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** The names of the fields; none when it says what is there already. */
  readonly changed: readonly string[];
  /** More than texts: then it is looked at before it is stored. */
  readonly changesSecurity: boolean;
}

/** Everything that can be asked about a change before anybody else hears of it. Nothing of it is stored. */
export async function validateUpdate(
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
export async function authorizeUpdate(
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
