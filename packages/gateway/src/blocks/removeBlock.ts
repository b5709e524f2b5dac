import { grants } from '@behalf/contracts';
import { blockResource } from '../access/acl.ts';
import { recorded } from '../access/recorded.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { blockEvent } from './blockEvent.ts';
import { requireVersion, type BlockCondition } from './changeBlock.ts';
import { enterBlockWrite } from './enterBlockWrite.ts';
import { blockBits } from './findBlock.ts';
import type { SaveBlockParts } from './parts.ts';

/** The rows go last: cut short in between, removing it again finishes the work. */
export function removeBlock(
  parts: SaveBlockParts,
  principal: UserPrincipal,
  id: string,
  { ifMatch }: BlockCondition = {},
): Promise<void> {
  return recorded(parts.audit, blockEvent(principal, 'block.delete', { subject: id }), async (trail) => {
    const { tenant, ...caller } = await enterBlockWrite(parts, principal);
    const bits = blockBits(parts, { tenant, ...caller }, id);
    if (!grants(bits, 'VIEW')) throw new GatewayError('BLOCK_NOT_FOUND');
    if (!grants(bits, 'DELETE')) throw new GatewayError('BLOCK_FORBIDDEN');
    // One that does not open can still be thrown away.
    const block = await parts.blocks.find(tenant, id);
    if (block) {
      Object.assign(trail, { server: block.serverName, serverId: block.serverId });
      requireVersion(ifMatch, block.version);
    }
    const wasThere = await parts.blocks.remove(tenant, id);
    await parts.acl.removeServer(tenant, blockResource(id));
    if (!wasThere) throw new GatewayError('BLOCK_NOT_FOUND');
    return { result: undefined };
  });
}
