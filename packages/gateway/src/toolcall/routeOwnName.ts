import { isPlainName } from '@behalf/contracts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ToolList } from '../catalog/catalog.ts';
import { prepare } from './askServer.ts';
import type { Inbound } from './call.ts';
import { checkAccess, type Allowed } from './checkAccess.ts';
import type { EndpointParts } from './endpoint.ts';
import { knownPrompts, loadItems } from './listEndpoint.ts';
import { holderKey, loadTools } from './loadTools.ts';
import { standsAlone } from './ownNames.ts';
import { resolveServer } from './resolveServer.ts';
import type { Routed, RoutedTool } from './routeEndpoint.ts';
import { unlisted } from './unlisted.ts';

type Denial = 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND';

/** What a name without a key means: by the rules of `createOwnName`. Undefined: such a name has a key before it. */
export function routeOwnTool(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): RoutedTool | Promise<RoutedTool> | undefined {
  const naming = parts.naming();
  const { principal } = inbound;
  const meant = naming.tools.meaningOf(publicName);
  if (meant) {
    const server = enterFixed(parts, inbound, meant.server, 'MCP_TOOL_NOT_FOUND');
    const tool = parts.catalog.peek(server, holderKey(server, principal))?.find(meant.name);
    return tool ? { ...meant, tool } : loadMeant(parts, inbound, server, meant.name);
  }
  if (naming.priority.length === 0 || !isPlainName(publicName)) return undefined;
  for (const name of naming.priority) {
    const server = enterFixed(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const list = parts.catalog.peek(server, holderKey(server, principal));
    const tool = list?.find(publicName);
    if (tool && standsAlone(naming, 'tools', name, publicName))
      return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  return loadFirst(parts, inbound, publicName);
}

/** Only the servers of the configuration have such names; one that the caller may not use is told like one without. */
function enterFixed(parts: EndpointParts, { principal }: Inbound, name: string, denial: Denial): Allowed {
  const server = resolveServer(parts.registry, principal, name);
  return checkAccess(parts, principal, server?.source === 'user' ? undefined : server, denial);
}

function load(parts: EndpointParts, inbound: Inbound, server: Allowed): Promise<ToolList> {
  const purse = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) => prepare(parts, server, { ...inbound, signal }, { purse });
  return loadTools(parts, server, obtain, inbound, { refresh: 'if-old' });
}

async function loadMeant(
  parts: EndpointParts,
  inbound: Inbound,
  server: Allowed,
  name: string,
): Promise<RoutedTool> {
  // Why it cannot be listed is what the call itself will say, in the words of a call.
  const list = await load(parts, inbound, server).catch(() => undefined);
  return { server: server.name, name, tool: list?.find(name) };
}

/** Not known: it may be new somewhere, or this is the first call. Each is asked only after those before it lack it. */
async function loadFirst(parts: EndpointParts, inbound: Inbound, publicName: string): Promise<RoutedTool> {
  const naming = parts.naming();
  for (const name of naming.priority) {
    const server = enterFixed(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const alone = standsAlone(naming, 'tools', name, publicName);
    const list = await load(parts, inbound, server).catch(() => undefined);
    const tool = list?.find(publicName);
    // One that cannot be listed may have it, so nobody behind it is asked: the call itself says what is wrong there.
    if (alone && (tool || !list)) return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  throw new GatewayError('MCP_TOOL_NOT_FOUND');
}

export async function routeOwnPrompt(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<Routed | undefined> {
  const naming = parts.naming();
  const meant = naming.prompts.meaningOf(publicName);
  if (meant) {
    enterFixed(parts, inbound, meant.server, 'MCP_PROMPT_NOT_FOUND');
    return meant;
  }
  if (naming.priority.length === 0 || !isPlainName(publicName)) return undefined;
  for (const fresh of [false, true]) {
    for (const name of naming.priority) {
      const server = enterFixed(parts, inbound, name, 'MCP_PROMPT_NOT_FOUND');
      const [loaded] = await loadItems(parts, inbound, [server], 'prompts/list', { fresh });
      if (!loaded) break;
      const [, listed] = loaded;
      const alone = standsAlone(naming, 'prompts', name, publicName);
      if ('absence' in listed) {
        // For a name that is another's nobody is sent to sign in.
        if (!alone) throw listed.cause;
        return unlisted(listed, { server: name, name: publicName });
      }
      const known = knownPrompts(listed);
      if (alone && known.names.includes(publicName)) return { server: name, name: publicName };
      if (!known.complete) break;
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}
