import type { CatalogTool } from '../catalog/catalog.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { Inbound } from '../toolcall/inbound.ts';
import { listServerTools } from '../toolcall/listServerTools.ts';
import type { ListToolsParts } from '../toolcall/listTools.ts';

/** A tool that the caller has, as a call by them would find it. */
export async function requireVisibleTool(
  parts: ListToolsParts,
  inbound: Inbound,
  serverName: string,
  toolName: string,
): Promise<{ server: ServerSnapshot; tool: CatalogTool }> {
  const { server, tools, code } = await listServerTools(parts, inbound, serverName);
  const tool = tools.find(({ name }) => name === toolName);
  if (!tool) throw new GatewayError(code ?? 'MCP_TOOL_NOT_FOUND');
  return { server, tool };
}
