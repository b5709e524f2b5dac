import type { DiscoverToolsView } from '@behalf/contracts';
import { validateNewServer } from '../configure/validateNewServer.ts';
import { listDefinitionTools } from '../configure/listDefinitionTools.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import type { UserServer } from '../registry/server.ts';
import { collectPresentedSecrets } from '../toolcall/maskSecrets.ts';
import type { RemoteTarget } from '../upstream/target.ts';
import { toDiscoveredTools } from './discoveredTools.ts';
import { toProbeError, toCredentialRefusal, type CredentialRefusal } from './probeFailure.ts';
import type { DiscoverParts } from './parts.ts';

export type DraftProbe =
  | { readonly tools: Extract<DiscoverToolsView, { outcome: 'tools' }> }
  | { readonly refusal: CredentialRefusal };

/**
 * Judges a definition as saving it would, and brings its tools home. `targetOf`: asked only once everything else allows it, so that no
 * credential is made ready for an address that may not be chosen.
 */
export async function probeDraft(
  parts: DiscoverParts,
  principal: UserPrincipal,
  definition: Fields,
  resolveTarget: (server: UserServer) => RemoteTarget | Promise<RemoteTarget>,
): Promise<DraftProbe> {
  const probes: DraftProbe[] = [];
  const inspect = async (server: UserServer) => {
    probes.push(await listTools(parts, server, await resolveTarget(server)));
    return {};
  };
  await validateNewServer({ ...parts, inspect }, principal, definition);
  const [probe] = probes;
  // It has a place for a value that only a saved server can be given.
  if (!probe) throw new GatewayError('MCP_CONFIG_INVALID');
  return probe;
}

async function listTools(
  parts: DiscoverParts,
  server: UserServer,
  target: RemoteTarget,
): Promise<DraftProbe> {
  try {
    const toolList = await listDefinitionTools(parts, server, target);
    return { tools: { outcome: 'tools', ...toDiscoveredTools(toolList, collectPresentedSecrets(target)) } };
  } catch (error) {
    const refusal = toCredentialRefusal(error);
    if (refusal) return { refusal };
    throw toProbeError(error);
  }
}
