import type { JsonObject } from '@behalf/gateway';

export const SEARCH_TOOL = 'search_tools';
export const CALL_TOOL = 'call_tool';

export const searchLimits = { maxQueryLength: 500, maxLimit: 20, defaultLimit: 5 } as const;

const textSchema = (description: string) => ({ type: 'string', description });

export const searchSchema: JsonObject = {
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

export const callSchema: JsonObject = {
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

/** What stands in the place of all others. */
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
    // What it does is what the tool does, and of that nothing is known here: a client should think the worst of it.
    annotations: { title: 'Call a tool', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];
