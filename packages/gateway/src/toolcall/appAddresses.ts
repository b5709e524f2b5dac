import { toAbortSignal, type Cancellation } from '@behalf/kernel';
import { loadFromEachServer } from '../catalog/loadFromEachServer.ts';
import type { ToolList } from '../catalog/toolList.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { prepareCredential } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import type { AllowedServer } from './checkAccess.ts';
import type { EndpointParts } from './endpoint.ts';
import { ownerKey, loadTools } from './loadTools.ts';

/** Where MCP Apps are. Clients insist on it: such an address cannot stand behind a key. */
export function isAppAddress(address: string): boolean {
  return address.startsWith('ui://');
}

/** Whether a tool says that this is its app. A server need not list what its tools name. */
export function namesApp({ tools }: Pick<ToolList, 'tools'>, address: string): boolean {
  return tools.some(({ _meta = {} }) => {
    const { ui, 'ui/resourceUri': legacyAddress } = _meta;
    const currentAddress =
      typeof ui === 'object' && ui !== null && 'resourceUri' in ui ? ui.resourceUri : undefined;
    return currentAddress === address || legacyAddress === address;
  });
}

/** The tools of each of these, or what they were when they could last be listed; undefined where they never were. */
export async function loadLastKnownTools(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly AllowedServer[],
): Promise<(readonly [AllowedServer, ToolList | undefined])[]> {
  const results = await loadFromEachServer(
    servers,
    (server, signal) => {
      const serverInbound = { ...inbound, signal };
      const budget = createTokenRequestBudget();
      const obtain = (cancellation: Cancellation = signal) =>
        prepareCredential(parts, server, { ...serverInbound, signal: cancellation }, { budget });
      return loadTools(parts, server, obtain, serverInbound);
    },
    { clock: parts.clock, signal: toAbortSignal(inbound.signal) },
  );
  return results.map(([server, list]) => [
    server,
    'absence' in list ? parts.catalog.peek(server, ownerKey(server, inbound.principal)) : list,
  ]);
}
