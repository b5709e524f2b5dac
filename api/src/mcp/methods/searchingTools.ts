import type { JsonObject } from '@behalf/gateway';

export const SEARCH_TOOL = 'search_tools';
export const CALL_TOOL = 'call_tool';

export const searchLimits = { query: 500, most: 20, usual: 5 } as const;

const text = (description: string) => ({ type: 'string', description });

export const searchSchema: JsonObject = {
  type: 'object',
  properties: {
    query: {
      ...text('What you want to do, in plain words, for example: send a message to a channel.'),
      ...{ minLength: 1, maxLength: searchLimits.query },
    },
    limit: {
      type: 'integer',
      description: 'How many tools at most.',
      ...{ minimum: 1, maximum: searchLimits.most, default: searchLimits.usual },
    },
    server: text('Only tools of the server with this name.'),
  },
  required: ['query'],
  additionalProperties: false,
};

const foundSchema: JsonObject = {
  type: 'object',
  properties: {
    tools: {
      type: 'array',
      description: 'The best first.',
      items: {
        type: 'object',
        properties: {
          name: text('By which call_tool runs it.'),
          server: text('Whose tool it is.'),
          title: { type: 'string' },
          description: { type: 'string' },
          inputSchema: { type: 'object', description: 'What its arguments must be.' },
          annotations: { type: 'object' },
          shortened: {
            type: 'boolean',
            description: 'It was too long to be shown whole. Search for it with limit 1 to see more.',
          },
        },
        required: ['name', 'server', 'inputSchema'],
      },
    },
    searched: { type: 'integer', description: 'Among how many tools was searched.' },
    unavailable: {
      type: 'array',
      description:
        'Servers of which not everything could be searched, and where their user can connect them.',
      items: { type: 'object' },
    },
  },
  required: ['tools', 'searched'],
};

export const callSchema: JsonObject = {
  type: 'object',
  properties: {
    name: text('The name of the tool, as search_tools gave it.'),
    arguments: {
      type: 'object',
      description: 'The arguments of the tool, as its inputSchema has them.',
      additionalProperties: true,
    },
  },
  required: ['name'],
  additionalProperties: false,
};

/** What stands in the place of all others. */
export const searchingTools: readonly JsonObject[] = [
  {
    name: SEARCH_TOOL,
    title: 'Search tools',
    description:
      'Finds tools by what they do, among all that you may use here. Gives the name, description and inputSchema of those that fit best, the best first. Run one with call_tool.',
    inputSchema: searchSchema,
    outputSchema: foundSchema,
    annotations: { title: 'Search tools', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  },
  {
    name: CALL_TOOL,
    title: 'Call a tool',
    description:
      'Runs a tool that search_tools found, by its name and with arguments that fit its inputSchema. The result is the result of that tool.',
    inputSchema: callSchema,
    // What it does is what the tool does, and of that nothing is known here: a client should think the worst of it.
    annotations: { title: 'Call a tool', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  },
];
