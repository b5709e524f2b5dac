import { grants } from '@behalf/contracts';
import { savedResource } from '../access/acl.ts';
import { recorded, type Trail } from '../access/recorded.ts';
import { actorOf } from '../audit/audit.ts';
import { currentCaller } from '../configure/currentCaller.ts';
import { versionsIn } from '../configure/ifMatch.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { savedBits } from './findSaved.ts';
import type { SavedKind } from './kinds.ts';
import type { SavedThing, Shelf, WriteSavedParts } from './parts.ts';

export interface WriteCondition {
  /** The `If-Match` of the request. */
  readonly ifMatch?: string | undefined;
}

/** A change of what is saved, as it is written down. */
export function savedEvent(
  principal: UserPrincipal,
  { word }: SavedKind,
  verb: 'create' | 'change' | 'delete',
  about: { readonly server?: string; readonly subject?: string },
) {
  const { tenant } = principal;
  const what = { kind: 'config', action: `${word}.${verb}`, door: 'rest' } as const;
  return { ...what, tenant, actor: actorOf(principal), ...about } as const;
}

/** By what the store says now: what is saved stays, so it may not rest on a right or an account that was taken away a second ago. */
export async function enterSavedWrite(
  parts: Pick<WriteSavedParts, 'acl' | 'roles' | 'users'>,
  principal: UserPrincipal,
): Promise<UserPrincipal> {
  const { acl, roles } = parts;
  const [caller] = await Promise.all([currentCaller(parts, principal), acl.refresh(), roles.refresh()]);
  roles.requirePermission(caller, 'USE');
  return caller;
}

/** The owner's rights first: what nobody has could never be removed. */
export async function insertSaved<T extends SavedThing>(
  { acl }: Pick<WriteSavedParts, 'acl'>,
  { kind, things }: Shelf<T>,
  thing: T,
): Promise<void> {
  const { tenant, id, owner } = thing;
  const resource = savedResource(kind.word, id);
  await acl.grantOwner({ tenant, id: resource }, owner);
  try {
    await things.insert(thing);
  } catch (error) {
    await acl.removeServer(tenant, resource);
    throw error;
  }
}

export function requireVersion(ifMatch: string | undefined, version: number): void {
  const versions = versionsIn(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('VERSION_CONFLICT');
}

/** The rows go last: cut short in between, removing it again finishes the work. */
export function removeSaved<T extends SavedThing>(
  parts: WriteSavedParts,
  { kind, things }: Shelf<T>,
  principal: UserPrincipal,
  id: string,
  { ifMatch, told }: WriteCondition & { readonly told?: (thing: T) => Trail } = {},
): Promise<void> {
  return recorded(parts.audit, savedEvent(principal, kind, 'delete', { subject: id }), async (trail) => {
    const { tenant, ...caller } = await enterSavedWrite(parts, principal);
    const bits = savedBits(parts, kind, { tenant, ...caller }, id);
    if (!grants(bits, 'VIEW')) throw new GatewayError(kind.notFound);
    if (!grants(bits, 'DELETE')) throw new GatewayError(kind.forbidden);
    // One that does not open can still be thrown away.
    const thing = await things.find(tenant, id);
    if (thing) {
      Object.assign(trail, told?.(thing));
      requireVersion(ifMatch, thing.version);
    }
    const wasThere = await things.remove(tenant, id);
    await parts.acl.removeServer(tenant, savedResource(kind.word, id));
    if (!wasThere) throw new GatewayError(kind.notFound);
    return { result: undefined };
  });
}
