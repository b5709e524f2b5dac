import { GatewayError, searchEndpointTools, type EndpointTool, type JsonObject } from '@behalf/gateway';
import type { Asked } from '../asked.ts';
import { mcpInbound } from '../mcpInbound.ts';
import { isObject } from '../message.ts';
import { missingNotices } from './listResult.ts';
import type { MethodParts } from './methodParts.ts';
import { CALL_TOOL, callSchema, SEARCH_TOOL, searchLimits, searchSchema } from './searchingTools.ts';

/** Of all that was found; each may take its share. A server that writes much must not push out what others have. */
const MOST_FOUND = 256 * 1024;
const LONGEST_DESCRIPTION = 4_000;
const SHORTENED = 500;
const MOST_UNAVAILABLE = 20;

export interface Searching {
  /** `search_tools`: the text of its result. */
  search(asked: Asked, args: unknown): Promise<string>;
  /** `call_tool`: what it is asked to run. */
  wantedBy(params: JsonObject): JsonObject;
}

export function createSearching(parts: MethodParts): Searching {
  const { servers, search, results, requestIds, base } = parts;

  function check(toolName: string, schema: JsonObject, args: unknown): JsonObject {
    const errors = servers.arguments.validate({ serverId: '-', toolName }, schema, args);
    if (errors || !isObject(args)) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors: errors ?? [] });
    return args;
  }

  return {
    async search(asked, given) {
      const { query, limit, server } = check(SEARCH_TOOL, searchSchema, given);
      // As the schema says, also where nobody had the time to check it.
      const wanted = {
        query: String(query).slice(0, searchLimits.query),
        limit:
          typeof limit === 'number' ? Math.min(Math.max(1, limit), searchLimits.most) : searchLimits.usual,
        server: typeof server === 'string' ? server : undefined,
      };
      const inbound = mcpInbound(asked, requestIds());
      const found = await searchEndpointTools({ servers, search }, inbound, asked.endpoint, wanted);
      const notices = missingNotices(found.missing, base());
      const share = MOST_FOUND / Math.max(1, found.tools.length);
      const structuredContent = {
        tools: found.tools.map((tool) => hitOf(tool, share)),
        searched: found.searchedCount,
        ...(notices.length > 0 && { unavailable: notices.slice(0, MOST_UNAVAILABLE) }),
      };
      return results.own(asked.era, {
        content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
        structuredContent,
        isError: false,
        ...(notices.length > 0 && { _meta: { 'behalf/servers': notices } }),
      });
    },
    wantedBy(params) {
      const { name, arguments: args } = check(CALL_TOOL, callSchema, params['arguments'] ?? {});
      return { name, arguments: args };
    },
  };
}

/** A tool as a list shows it, without what only clients need. */
function hitOf({ name, server, tool }: EndpointTool, share: number): JsonObject {
  const { title, description, inputSchema, annotations } = tool;
  const whole = {
    ...{ name, server: server.name },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: description.slice(0, LONGEST_DESCRIPTION) }),
    inputSchema,
    ...(annotations && { annotations }),
  };
  if (JSON.stringify(whole).length <= share) return whole;
  return {
    ...{ name, server: server.name },
    ...(description !== undefined && { description: description.slice(0, SHORTENED) }),
    ...{ inputSchema: { type: 'object' }, shortened: true },
  };
}
