import { z } from 'zod';
import { section } from './section.ts';

const names = z.record(z.string().min(1), z.string().min(1));

/** What one server and what it has are called where all servers stand side by side. */
export const EndpointServer = section({
  key: z
    .string()
    .min(1)
    .optional()
    .describe(
      'What its names begin with, in place of its own name: letters, digits, `_` and `-`, 24 at most, without `__`.',
    ),
  tools: names
    .default({})
    .describe(
      'Names of its tools, by what the server calls them: letters, digits, `_` and `-`, without `__`.',
    ),
  prompts: names.default({}).describe('The same for its prompts.'),
});
export type EndpointServer = z.output<typeof EndpointServer>;

/** The MCP endpoint `/mcp`, where all servers of a user stand side by side. */
export const McpEndpoint = section({
  names: z
    .enum(['prefix', 'priority'])
    .default('prefix')
    .describe(
      '`prefix`: `<server>__<tool>`. `priority`: tools of the servers in `priority` keep their own names where they can.',
    ),
  priority: z
    .array(z.string().min(1))
    .default([])
    .describe('Servers of this file. Where two have a tool of the same name, the first keeps it.'),
  servers: z
    .record(z.string().min(1), EndpointServer)
    .default({})
    .describe('Names that are chosen by hand, by server of this file. They come before all others.'),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Origins whose pages may use the MCP endpoints with a token, such as `https://app.example`. None: no page of another site.',
    ),
});
export type McpEndpoint = z.output<typeof McpEndpoint>;
