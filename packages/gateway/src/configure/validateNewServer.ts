import type { ServerSettings } from '@behalf/settings';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import { reauthorizeWriter } from './reauthorizeWriter.ts';
import { restoreMaskedSecrets } from './secretMasks.ts';
import type { ConfigureParts, ServerProbe } from './parts.ts';
import { compileInput, requireMaxDepth, withoutNulls } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { toUserServer, requireReachable } from './requireReachable.ts';
import { requireServerQuota } from './requireServerQuota.ts';

export interface ServerOwner {
  readonly id: string;
  readonly tenant: string;
  readonly author: string;
}

/** A server that may be made. */
export interface ValidatedServer {
  readonly owner: ServerOwner;
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** Null: it has to wait for a user before it can be looked at. */
  readonly probe: ServerProbe | null;
}

/** Everything that can be asked about a server before it is made. Nothing of it is stored. */
export async function validateNewServer(
  parts: ConfigureParts,
  principal: UserPrincipal,
  config: Fields,
): Promise<ValidatedServer> {
  const caller = await reauthorizeWriter(parts, principal);
  requireMaxDepth(config);
  // A mask stands for a secret that is known, and of a new server none is.
  const { definition } = restoreMaskedSecrets(withoutNulls(config), {});
  const settings = compileInput('server', definition);
  requireOboPermission(parts, caller, {}, definition);
  const owner = { id: parts.random.id(), tenant: principal.tenant, author: principal.userId };
  requireServerQuota(parts, owner.author, await parts.stored.listNames(owner.tenant));
  const probe = await requireReachable(parts, toUserServer(settings, owner));
  return { owner, definition, settings, probe };
}
