import { GatewayError, searchEndpointTools, type EndpointTool, type JsonObject } from '@behalf/gateway';
import type { McpRequest } from '../mcpRequest.ts';
import { createMcpInbound } from '../mcpInbound.ts';
import { isObject } from '../rpcMessage.ts';
import { describeMissing } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';
import { CALL_TOOL, callSchema, SEARCH_TOOL, searchLimits, searchSchema } from './searchToolDefinitions.ts';

/** Of all that was found; each may take its share. A server that writes much must not push out what others have. */
const MAX_RESULT_LENGTH = 256 * 1024;
const MAX_DESCRIPTION_LENGTH = 4_000;
const SHORT_DESCRIPTION_LENGTH = 500;
const MAX_UNAVAILABLE = 20;

export interface SearchTools {
  /** `search_tools`: the text of its result. */
  search(mcpRequest: McpRequest, args: unknown): Promise<string>;
  /** `call_tool`: what it is asked to run. */
  readCall(params: JsonObject): JsonObject;
}

export function createSearchTools(parts: MethodParts): SearchTools {
  const { servers, search, results, requestIds, baseUrl } = parts;

  function check(toolName: string, schema: JsonObject, args: unknown): JsonObject {
    const errors = servers.arguments.validate({ serverId: '-', toolName }, schema, args);
    if (errors || !isObject(args)) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors: errors ?? [] });
    return args;
  }

  return {
    async search(mcpRequest, rawArgs) {
      const { query, limit, server } = check(SEARCH_TOOL, searchSchema, rawArgs);
      // As the schema says, also where nobody had the time to check it.
      const searchQuery = {
        query: String(query).slice(0, searchLimits.maxQueryLength),
        limit:
          typeof limit === 'number'
            ? Math.min(Math.max(1, limit), searchLimits.maxLimit)
            : searchLimits.defaultLimit,
        server: typeof server === 'string' ? server : undefined,
      };
      const inbound = createMcpInbound(mcpRequest, requestIds());
      const found = await searchEndpointTools({ servers, search }, inbound, mcpRequest.endpoint, searchQuery);
      const unavailable = describeMissing(found.missing, baseUrl());
      const maxLength = MAX_RESULT_LENGTH / Math.max(1, found.tools.length);
      const structuredContent = {
        tools: found.tools.map((tool) => toSearchHit(tool, maxLength)),
        searched: found.searchedCount,
        ...(unavailable.length > 0 && { unavailable: unavailable.slice(0, MAX_UNAVAILABLE) }),
      };
      return results.fromGateway(mcpRequest.era, {
        content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
        structuredContent,
        isError: false,
        ...(unavailable.length > 0 && { _meta: { 'behalf/servers': unavailable } }),
      });
    },
    readCall(params) {
      const { name, arguments: args } = check(CALL_TOOL, callSchema, params['arguments'] ?? {});
      return { name, arguments: args };
    },
  };
}

/** A tool as a list shows it, without what only clients need. */
function toSearchHit({ name, server, tool }: EndpointTool, maxLength: number): JsonObject {
  const { title, description, inputSchema, annotations } = tool;
  const hit = {
    ...{ name, server: server.name },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: description.slice(0, MAX_DESCRIPTION_LENGTH) }),
    inputSchema,
    ...(annotations && { annotations }),
  };
  if (JSON.stringify(hit).length <= maxLength) return hit;
  return {
    ...{ name, server: server.name },
    ...(description !== undefined && { description: description.slice(0, SHORT_DESCRIPTION_LENGTH) }),
    ...{ inputSchema: { type: 'object' }, shortened: true },
  };
}
