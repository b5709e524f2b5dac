import type { ServerSettings } from '@behalf/settings';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import { enterWrite } from './enterWrite.ts';
import { fillMasks } from './keptSecrets.ts';
import type { ConfigureParts, Looked } from './parts.ts';
import { readInput, requireFlat, withoutNulls } from './readInput.ts';
import { requireOboPermission } from './requireOboPermission.ts';
import { asUserServer, requireReachable } from './requireReachable.ts';
import { requireRoom } from './requireRoom.ts';

export interface Owner {
  readonly id: string;
  readonly tenant: string;
  readonly author: string;
}

/** A server that may be made. */
export interface NewServer {
  readonly owner: Owner;
  readonly definition: Fields;
  readonly settings: ServerSettings;
  /** Null: it has to wait for a user before it can be looked at. */
  readonly looked: Looked | null;
}

/** Everything that can be asked about a server before it is made. Nothing of it is stored. */
export async function judgeNew(
  parts: ConfigureParts,
  principal: UserPrincipal,
  config: Fields,
): Promise<NewServer> {
  const caller = await enterWrite(parts, principal);
  requireFlat(config);
  // A mask stands for a secret that is known, and of a new server none is.
  const { definition } = fillMasks(withoutNulls(config), {});
  const settings = readInput('server', definition);
  requireOboPermission(parts, caller, {}, definition);
  const owner = { id: parts.random.id(), tenant: principal.tenant, author: principal.userId };
  requireRoom(parts, owner.author, await parts.stored.roster(owner.tenant));
  const looked = await requireReachable(parts, asUserServer(settings, owner));
  return { owner, definition, settings, looked };
}
