import { type EndpointTool, GatewayError, type JsonObject, searchEndpointTools } from '@behalf/gateway';
import { isObject } from '@behalf/kernel';
import { type McpRequest, createMcpInbound } from '../request.ts';
import { describeMissing } from './listResult.ts';
import type { MethodParts } from './serverCallRunner.ts';

export const SEARCH_TOOL = 'search_tools';
export const CALL_TOOL = 'call_tool';

const searchLimits = { maxQueryLength: 500, maxLimit: 20, defaultLimit: 5 } as const;

const textSchema = (description: string) => ({ type: 'string', description });

const searchSchema: JsonObject = {
  type: 'object',
  properties: {
    query: {
      ...textSchema('What you want to do, in plain words, for example: send a message to a channel.'),
      ...{ minLength: 1, maxLength: searchLimits.maxQueryLength },
    },
    limit: {
      type: 'integer',
      description: 'Maximum number of tools to return.',
      ...{ minimum: 1, maximum: searchLimits.maxLimit, default: searchLimits.defaultLimit },
    },
    server: textSchema('Only tools of the server with this name.'),
  },
  required: ['query'],
  additionalProperties: false,
};

const searchResultSchema: JsonObject = {
  type: 'object',
  properties: {
    tools: {
      type: 'array',
      description: 'Best match first.',
      items: {
        type: 'object',
        properties: {
          name: textSchema('The name to pass to call_tool.'),
          server: textSchema('The server that provides the tool.'),
          title: { type: 'string' },
          description: { type: 'string' },
          inputSchema: { type: 'object', description: 'JSON Schema of the arguments.' },
          annotations: { type: 'object' },
          shortened: {
            type: 'boolean',
            description: 'The entry was shortened. Search for it with limit 1 to see more.',
          },
        },
        required: ['name', 'server', 'inputSchema'],
      },
    },
    searched: { type: 'integer', description: 'Number of tools searched.' },
    unavailable: {
      type: 'array',
      description:
        'Servers that could not be searched completely, with the pages where the user can connect them.',
      items: { type: 'object' },
    },
  },
  required: ['tools', 'searched'],
};

const callSchema: JsonObject = {
  type: 'object',
  properties: {
    name: textSchema('The name of the tool, as returned by search_tools.'),
    arguments: {
      type: 'object',
      description: 'The arguments of the tool. They must match its inputSchema.',
      additionalProperties: true,
    },
  },
  required: ['name'],
  additionalProperties: false,
};

/** The tools that an endpoint in search mode lists. */
export const searchToolDefinitions: readonly JsonObject[] = [
  {
    name: SEARCH_TOOL,
    title: 'Search tools',
    description:
      'Finds tools by what they do, among all tools available to you. Returns the name, description and inputSchema of the best matches, best match first. Run one with call_tool.',
    inputSchema: searchSchema,
    outputSchema: searchResultSchema,
    annotations: { title: 'Search tools', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: CALL_TOOL,
    title: 'Call a tool',
    description:
      'Runs a tool that search_tools found, by its name and with arguments that match its inputSchema. Returns the result of that tool.',
    inputSchema: callSchema,
    // The effect depends on the tool that it runs, so the annotations assume the worst case.
    annotations: { title: 'Call a tool', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];

/** The size of all hits. Each hit has an equal share, so that one long description does not displace other servers. */
const MAX_RESULT_LENGTH = 256 * 1024;
const MAX_DESCRIPTION_LENGTH = 4_000;
const SHORT_DESCRIPTION_LENGTH = 500;
const MAX_UNAVAILABLE = 20;

/** The tools `search_tools` and `call_tool` of endpoints in search mode. */
export function createSearchTools(parts: MethodParts) {
  const { servers, search, results, requestIds, baseUrl } = parts;

  function check(toolName: string, schema: JsonObject, args: unknown): JsonObject {
    const errors = servers.arguments.validate({ serverId: '-', toolName }, schema, args);
    if (errors || !isObject(args)) throw new GatewayError('MCP_ARGUMENTS_INVALID', { errors: errors ?? [] });
    return args;
  }

  return {
    /** Runs `search_tools`. Returns the serialized result. */
    async search(mcpRequest: McpRequest, rawArgs: unknown): Promise<string> {
      const { query, limit, server } = check(SEARCH_TOOL, searchSchema, rawArgs);
      // Validation has a time limit and may be skipped, so the limits of the schema apply here again.
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
    /** Validates the arguments of `call_tool`. Returns the name and the arguments of the tool to run. */
    readCall(params: JsonObject): JsonObject {
      const { name, arguments: args } = check(CALL_TOOL, callSchema, params['arguments'] ?? {});
      return { name, arguments: args };
    },
  };
}

/** A search result: the fields that a model needs, shortened to a size limit. */
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
