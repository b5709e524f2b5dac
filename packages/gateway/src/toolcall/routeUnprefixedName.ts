import { isValidAlias } from '@behalf/contracts';
import { createTokenRequestBudget } from '../credentials/obo/oboTokens.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ToolList } from '../catalog/catalog.ts';
import { prepareCredential } from './sendToServer.ts';
import type { Inbound } from './inbound.ts';
import { checkAccess, type AllowedServer } from './checkAccess.ts';
import type { EndpointParts } from './endpoint.ts';
import { readPromptNames, loadItems } from './listEndpoint.ts';
import { ownerKey, loadTools } from './loadTools.ts';
import { canBeUnprefixed } from './unprefixedNames.ts';
import { resolveServer } from './resolveServer.ts';
import type { RoutedName, RoutedTool } from './routeEndpoint.ts';
import { handleUnlistedServer } from './handleUnlistedServer.ts';

type NotFoundCode = 'MCP_TOOL_NOT_FOUND' | 'MCP_PROMPT_NOT_FOUND';

/** What a name without a key means: by the rules of `createUnprefixedNameLookup`. Undefined: such a name has a key before it. */
export function routeUnprefixedTool(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): RoutedTool | Promise<RoutedTool> | undefined {
  const naming = parts.naming();
  const { principal } = inbound;
  const aliased = naming.tools.resolveAlias(publicName);
  if (aliased) {
    const server = resolveConfiguredServer(parts, inbound, aliased.server, 'MCP_TOOL_NOT_FOUND');
    const tool = parts.catalog.peek(server, ownerKey(server, principal))?.find(aliased.name);
    return tool ? { ...aliased, tool } : loadAliasedTool(parts, inbound, server, aliased.name);
  }
  if (naming.priority.length === 0 || !isValidAlias(publicName)) return undefined;
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const list = parts.catalog.peek(server, ownerKey(server, principal));
    const tool = list?.find(publicName);
    if (tool && canBeUnprefixed(naming, 'tools', name, publicName))
      return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  return loadByPriority(parts, inbound, publicName);
}

/** Only the servers of the configuration have such names; one that the caller may not use is told like one without. */
function resolveConfiguredServer(
  parts: EndpointParts,
  { principal }: Inbound,
  name: string,
  notFoundCode: NotFoundCode,
): AllowedServer {
  const server = resolveServer(parts.registry, principal, name);
  return checkAccess(parts, principal, server?.source === 'user' ? undefined : server, notFoundCode);
}

function loadServerTools(parts: EndpointParts, inbound: Inbound, server: AllowedServer): Promise<ToolList> {
  const budget = createTokenRequestBudget();
  const obtain = (signal = inbound.signal) =>
    prepareCredential(parts, server, { ...inbound, signal }, { budget });
  return loadTools(parts, server, obtain, inbound, { refresh: 'if-old' });
}

async function loadAliasedTool(
  parts: EndpointParts,
  inbound: Inbound,
  server: AllowedServer,
  name: string,
): Promise<RoutedTool> {
  // Why it cannot be listed is what the call itself will say, in the words of a call.
  const list = await loadServerTools(parts, inbound, server).catch(() => undefined);
  return { server: server.name, name, tool: list?.find(name) };
}

/** Not known: it may be new somewhere, or this is the first call. Each is asked only after those before it lack it. */
async function loadByPriority(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<RoutedTool> {
  const naming = parts.naming();
  for (const name of naming.priority) {
    const server = resolveConfiguredServer(parts, inbound, name, 'MCP_TOOL_NOT_FOUND');
    const isUnprefixed = canBeUnprefixed(naming, 'tools', name, publicName);
    const list = await loadServerTools(parts, inbound, server).catch(() => undefined);
    const tool = list?.find(publicName);
    // One that cannot be listed may have it, so nobody behind it is asked: the call itself says what is wrong there.
    if (isUnprefixed && (tool || !list)) return { server: name, name: publicName, tool };
    if (!list?.complete) break;
  }
  throw new GatewayError('MCP_TOOL_NOT_FOUND');
}

export async function routeUnprefixedPrompt(
  parts: EndpointParts,
  inbound: Inbound,
  publicName: string,
): Promise<RoutedName | undefined> {
  const naming = parts.naming();
  const aliased = naming.prompts.resolveAlias(publicName);
  if (aliased) {
    resolveConfiguredServer(parts, inbound, aliased.server, 'MCP_PROMPT_NOT_FOUND');
    return aliased;
  }
  if (naming.priority.length === 0 || !isValidAlias(publicName)) return undefined;
  for (const fresh of [false, true]) {
    for (const name of naming.priority) {
      const server = resolveConfiguredServer(parts, inbound, name, 'MCP_PROMPT_NOT_FOUND');
      const [firstResult] = await loadItems(parts, inbound, [server], 'prompts/list', { fresh });
      if (!firstResult) break;
      const [, listed] = firstResult;
      const isUnprefixed = canBeUnprefixed(naming, 'prompts', name, publicName);
      if ('absence' in listed) {
        // For a name that is another's nobody is sent to sign in.
        if (!isUnprefixed) throw listed.cause;
        return handleUnlistedServer(listed, { server: name, name: publicName });
      }
      const listedNames = readPromptNames(listed);
      if (isUnprefixed && listedNames.names.includes(publicName)) return { server: name, name: publicName };
      if (!listedNames.complete) break;
    }
  }
  throw new GatewayError('MCP_PROMPT_NOT_FOUND');
}
