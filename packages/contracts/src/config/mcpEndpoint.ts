import { z } from 'zod';
import { section } from './section.ts';

const aliasMap = z.record(z.string().min(1), z.string().min(1));

/** What one server and what it has are called where all servers stand side by side. */
export const EndpointServer = section({
  key: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Prefix of the tool and prompt names of this server, instead of the server name: up to 24 letters, digits, `_` and `-`, without `__`.',
    ),
  tools: aliasMap
    .default({})
    .describe(
      'Aliases of the tools of this server, by original tool name: letters, digits, `_` and `-`, without `__`.',
    ),
  prompts: aliasMap.default({}).describe('Aliases of the prompts of this server.'),
});
export type EndpointServer = z.output<typeof EndpointServer>;

/** The MCP endpoint `/mcp`, where all servers of a user stand side by side. */
export const McpEndpoint = section({
  names: z
    .enum(['prefix', 'priority'])
    .default('prefix')
    .describe(
      '`prefix`: `<server>__<tool>`. `priority`: tools of the servers in `priority` keep their original names where possible.',
    ),
  priority: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Servers of this configuration file. If two servers have a tool with the same name, the first one keeps it.',
    ),
  servers: z
    .record(z.string().min(1), EndpointServer)
    .default({})
    .describe(
      'Prefixes and aliases, by server of this configuration file. They take precedence over generated names.',
    ),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Origins whose pages may use the MCP endpoints with a token, such as `https://app.example`. Empty: no cross-origin requests.',
    ),
});
export type McpEndpoint = z.output<typeof McpEndpoint>;
