import type { DiscoverToolsView } from '@behalf/contracts';
import { judgeNew } from '../configure/judgeNew.ts';
import { listDefinition } from '../configure/listDefinition.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import type { UserServer } from '../registry/server.ts';
import { collectPresentedSecrets } from '../toolcall/maskPresented.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { discoveredTools } from './discoveredTools.ts';
import { lookFailure, refusalOf, type Refused } from './lookFailure.ts';
import type { DiscoverParts } from './parts.ts';

export type Looked =
  { readonly tools: Extract<DiscoverToolsView, { outcome: 'tools' }> } | { readonly refused: Refused };

/**
 * Judges a definition as saving it would, and brings its tools home. `targetOf`: asked only once everything else allows it, so that no
 * credential is made ready for an address that may not be chosen.
 */
export async function look(
  parts: DiscoverParts,
  principal: UserPrincipal,
  definition: Fields,
  targetOf: (server: UserServer) => RemoteTarget | Promise<RemoteTarget>,
): Promise<Looked> {
  const seen: Looked[] = [];
  const inspect = async (server: UserServer) => {
    seen.push(await ask(parts, server, await targetOf(server)));
    return {};
  };
  await judgeNew({ ...parts, inspect }, principal, definition);
  const [looked] = seen;
  // It has a place for a value that only a saved server can be given.
  if (!looked) throw new GatewayError('MCP_CONFIG_INVALID');
  return looked;
}

async function ask(parts: DiscoverParts, server: UserServer, target: RemoteTarget): Promise<Looked> {
  try {
    const listed = await listDefinition(parts, server, target);
    return { tools: { outcome: 'tools', ...discoveredTools(listed, collectPresentedSecrets(target)) } };
  } catch (error) {
    const refused = refusalOf(error);
    if (refused) return { refused };
    throw lookFailure(error);
  }
}
