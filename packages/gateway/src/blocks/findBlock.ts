import { aclBits, grants, type AclBit } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import { isAdmin, type Principal } from '../principal/principal.ts';
import type { ViewBlockParts } from './parts.ts';
import type { Block } from './sealedBlocks.ts';

export interface FoundBlock {
  readonly block: Block;
  readonly bits: number;
}

/**
 * What rows give, and nothing else: inputs are what people typed in, so an administrator sees those that are shared with them.
 * Of these they may remove any: one that is shared with everybody runs in everybody's name.
 */
export function blockBits({ acl }: Pick<ViewBlockParts, 'acl'>, principal: Principal, id: string): number {
  return withAdmins(principal, acl.blockBits(principal, id));
}

export function withAdmins(principal: Principal, bits: number): number {
  return isAdmin(principal) && grants(bits, 'VIEW') ? bits | aclBits.DELETE : bits;
}

/** Null for one that is not for the caller, as for one that does not exist. */
export async function seeBlock(
  parts: ViewBlockParts,
  principal: Principal,
  id: string,
): Promise<FoundBlock | null> {
  parts.roles.requirePermission(principal, 'USE');
  const bits = blockBits(parts, principal, id);
  if (!grants(bits, 'VIEW')) return null;
  const block = await parts.blocks.find(principal.tenant, id);
  return block && { block, bits };
}

/** One that the caller may do this with. */
export async function findBlock(
  parts: ViewBlockParts,
  principal: Principal,
  id: string,
  bit: AclBit = 'VIEW',
): Promise<FoundBlock> {
  const found = await seeBlock(parts, principal, id);
  if (!found) throw new GatewayError('BLOCK_NOT_FOUND');
  if (!grants(found.bits, bit)) throw new GatewayError('BLOCK_FORBIDDEN');
  return found;
}
