import { z } from 'zod';
import { AuthorizationServer } from './authorizationServer.ts';
import { Endpoints } from './endpoints.ts';
import { IdentityProviders } from './identityProviders.ts';
import { Interface } from './interface.ts';
import { unusedSections } from './librechatKeys.ts';
import { McpSettings } from './mcpSettings.ts';
import { section, unusedKey } from './section.ts';
import { McpServer } from './transports.ts';

const unusedFields = Object.fromEntries(
  unusedSections.map((name) => [name, unusedKey('LibreChat section. Behalf ignores it.')]),
) as Record<(typeof unusedSections)[number], ReturnType<typeof unusedKey>>;

/** The keys of the whole file besides `mcpServers`, whose entries are checked one by one. */
export const topLevelFields = {
  version: z
    .union([z.string(), z.number()])
    .optional()
    .describe('Version of LibreChat’s format. Accepted and ignored.'),
  mcpSettings: McpSettings.optional().describe('Allowed server addresses, and the MCP endpoint.'),
  interface: Interface.optional().describe('Only `mcpServers` is used.'),
  endpoints: Endpoints.optional().describe('Only `custom` and `agents.toolApproval` are used.'),
  identityProviders: IdentityProviders.optional().describe(
    'Identity providers for token exchange, by name. Behalf extension.',
  ),
  authorizationServer: AuthorizationServer.optional().describe(
    'Behalf’s authorization server for MCP clients. Off by default. Behalf extension.',
  ),
  unknownKeys: z
    .enum(['error', 'warn'])
    .default('error')
    .describe(
      '`warn`: unknown keys are warnings instead of errors, for the migration of an old file. Behalf extension.',
    ),
  ...unusedFields,
};

const mcpServers = z.record(z.string(), McpServer);

/** The whole file, for editors and references. Reading a file is `checkConfig`, which explains what is wrong. */
export const Config = section({
  mcpServers: mcpServers.optional().describe('The MCP servers, by name.'),
  ...topLevelFields,
});

/** Everything but the servers. */
export const ConfigWithoutServers = section(topLevelFields);
export type ConfigWithoutServers = z.output<typeof ConfigWithoutServers>;
