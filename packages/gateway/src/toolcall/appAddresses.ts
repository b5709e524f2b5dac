import { toAbortSignal, type Cancellation } from '@behalf/kernel';
import { eachServer } from '../catalog/eachServer.ts';
import type { ToolList } from '../catalog/toolList.ts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { prepare } from './askServer.ts';
import type { Inbound } from './call.ts';
import type { Allowed } from './checkAccess.ts';
import type { EndpointParts } from './endpoint.ts';
import { holderKey, loadTools } from './loadTools.ts';

/** Where MCP Apps are. Clients insist on it: such an address cannot stand behind a key. */
export function isAppAddress(address: string): boolean {
  return address.startsWith('ui://');
}

/** Whether a tool says that this is its app. A server need not list what its tools name. */
export function namesApp({ tools }: Pick<ToolList, 'tools'>, address: string): boolean {
  return tools.some(({ _meta = {} }) => {
    const { ui, 'ui/resourceUri': before } = _meta;
    const now = typeof ui === 'object' && ui !== null && 'resourceUri' in ui ? ui.resourceUri : undefined;
    return now === address || before === address;
  });
}

/** The tools of each of these, or what they were when they could last be listed; undefined where they never were. */
export async function lastKnownTools(
  parts: EndpointParts,
  inbound: Inbound,
  servers: readonly Allowed[],
): Promise<(readonly [Allowed, ToolList | undefined])[]> {
  const loaded = await eachServer(
    servers,
    (server, signal) => {
      const asking = { ...inbound, signal };
      const purse = createTokenRequestBudget();
      const obtain = (among: Cancellation = signal) =>
        prepare(parts, server, { ...asking, signal: among }, { purse });
      return loadTools(parts, server, obtain, asking);
    },
    { clock: parts.clock, signal: toAbortSignal(inbound.signal) },
  );
  return loaded.map(([server, list]) => [
    server,
    'absence' in list ? parts.catalog.peek(server, holderKey(server, inbound.principal)) : list,
  ]);
}
