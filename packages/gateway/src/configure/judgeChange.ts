import type { ServerSettings } from '@behalf/settings';
import type { Trail } from '../access/recorded.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { changedFields, changedSecurity, type Fields } from '../registry/canonical.ts';
import { enterWrite } from './enterWrite.ts';
import { findEditable, type Editable } from './findEditable.ts';
import { requireMatch } from './ifMatch.ts';
import { fillMasks, requireSameBinding, withMasks, type ChangeMode } from './keptSecrets.ts';
import type { ConfigureParts } from './parts.ts';
import { readInput, requireFlat } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';

export interface ServerChange {
  readonly config: Fields;
  readonly mode: ChangeMode;
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** A change that may be made, but for what is found at the new address. */
export interface JudgedChange extends Editable {
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** The names of the fields; none when it says what is there already. */
  readonly changed: readonly string[];
  /** More than texts: then it is looked at before it is stored. */
  readonly isSecurity: boolean;
}

/** Everything that can be asked about a change before anybody else hears of it. Nothing of it is stored. */
export async function judgeChange(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  { config, mode, ifMatch }: ServerChange,
  trail: Trail,
): Promise<JudgedChange> {
  const { caller, stored, bits } = await mayChange(parts, principal, name, trail);
  requireMatch(ifMatch, stored.version);
  requireFlat(config);
  const before = stored.definition;
  const { definition, kept } = fillMasks(withMasks(config, before, mode), before);
  const settings = readInput(name, definition);
  requireOboPermission(parts, caller, before, definition);
  requireSameBinding(kept, before, definition);
  const changed = changedFields(before, definition);
  trail.changed = changed;
  const isSecurity = changedSecurity(before, definition).length > 0;
  return { stored, bits, definition, settings, changed, isSecurity };
}

/** Who may define servers, and change this one. */
export async function mayChange(
  parts: ConfigureParts,
  principal: UserPrincipal,
  name: string,
  trail: Trail,
): Promise<Editable & { readonly caller: UserPrincipal }> {
  const caller = await enterWrite(parts, principal);
  const editable = await findEditable(parts, caller, name, 'EDIT');
  trail.serverId = editable.stored.id;
  return { ...editable, caller };
}
