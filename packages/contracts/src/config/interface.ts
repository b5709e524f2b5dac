import { z } from 'zod';
import { openSection, section, unusedKey } from './section.ts';

const permissionFields = {
  use: z.boolean().optional().describe('MCP_SERVERS.USE'),
  create: z.boolean().optional().describe('MCP_SERVERS.CREATE'),
  share: z.boolean().optional().describe('MCP_SERVERS.SHARE'),
  public: z.boolean().optional().describe('MCP_SERVERS.SHARE_PUBLIC'),
  configureObo: z.boolean().optional().describe('MCP_SERVERS.CONFIGURE_OBO'),
};

const localizedText = z.union([z.string(), z.record(z.string(), z.string())]);

/** No defaults on purpose: what the file names overrides stored permissions at start, what it leaves out never does. */
export const InterfaceMcpServers = section({
  placeholder: z.string().optional().describe('Placeholder text of the server picker.'),
  ...permissionFields,
  trustCheckbox: section({
    label: localizedText.optional().describe('Text, or one text per language.'),
    subLabel: localizedText.optional().describe('Text, or one text per language.'),
  })
    .optional()
    .describe('The statement that users confirm when they add a server.'),
  admin: section(permissionFields)
    .optional()
    .describe('The same permissions for the ADMIN role, which has all of them by default. Behalf extension.'),
  toolsRefreshInterval: unusedKey('LibreChat’s polling of tools.'),
  statusRefreshInterval: unusedKey('LibreChat’s polling of connection states.'),
});
export type InterfaceMcpServers = z.output<typeof InterfaceMcpServers>;

export const Interface = openSection({
  mcpServers: InterfaceMcpServers.optional().describe(
    'Permissions of the USER role, and texts. Only the keys that are present are applied.',
  ),
});
export type Interface = z.output<typeof Interface>;
