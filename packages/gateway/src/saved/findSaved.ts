import { aclBits, grants, type AclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { isAdmin, type Principal } from '../principal/principal.ts';
import { LONGEST_PAGE } from './limits.ts';
import type { SavedThing, SeeSavedParts, Shelf } from './parts.ts';
import type { SavedKind } from './kinds.ts';

export interface Found<T> {
  readonly thing: T;
  readonly bits: number;
}

/**
 * What rows give, and nothing else: what is saved is what people typed in, so an administrator sees what is shared with them.
 * Of that they may remove anything: what is shared with everybody runs in everybody's name.
 */
export function savedBits(
  { acl }: Pick<SeeSavedParts, 'acl'>,
  { word }: SavedKind,
  principal: Principal,
  id: string,
): number {
  return withAdmins(principal, acl.savedBits(principal, word, id));
}

function withAdmins(principal: Principal, bits: number): number {
  return isAdmin(principal) && grants(bits, 'VIEW') ? bits | aclBits.DELETE : bits;
}

/** Null for one that is not for the caller, as for one that does not exist. */
export async function seeSaved<T extends SavedThing>(
  parts: SeeSavedParts,
  { kind, things }: Shelf<T>,
  principal: Principal,
  id: string,
): Promise<Found<T> | null> {
  parts.roles.requirePermission(principal, 'USE');
  const bits = savedBits(parts, kind, principal, id);
  if (!grants(bits, 'VIEW')) return null;
  const thing = await things.find(principal.tenant, id);
  return thing && { thing, bits };
}

/** One that the caller may do this with. */
export async function findSaved<T extends SavedThing>(
  parts: SeeSavedParts,
  shelf: Shelf<T>,
  principal: Principal,
  id: string,
  bit: AclBit = 'VIEW',
): Promise<Found<T>> {
  const found = await seeSaved(parts, shelf, principal, id);
  if (!found) throw new GatewayError(shelf.kind.notFound);
  if (!grants(found.bits, bit)) throw new GatewayError(shelf.kind.forbidden);
  return found;
}

export interface Page {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

/** Their own and those that are shared with them, in the order of their ids. */
export async function listSaved<T extends SavedThing>(
  parts: SeeSavedParts,
  { kind, things }: Shelf<T>,
  principal: Principal,
  { limit = LONGEST_PAGE, after }: Page = {},
): Promise<{ found: Found<T>[]; next: string | null }> {
  parts.roles.requirePermission(principal, 'USE');
  const seen = parts.acl.savedOf(principal, kind.word);
  const ids = [...seen.keys()]
    .filter((id) => grants(seen.get(id) ?? 0, 'VIEW') && (after === undefined || id > after))
    .sort();
  const page = ids.slice(0, Math.min(limit, LONGEST_PAGE));
  const there = await things.findMany(principal.tenant, page);
  return {
    found: there.map((thing) => ({ thing, bits: withAdmins(principal, seen.get(thing.id) ?? 0) })),
    next: page.length < ids.length ? (page.at(-1) ?? null) : null,
  };
}
