import { z } from 'zod';
import { openSection, section, unusedKey } from './section.ts';

const bits = {
  use: z.boolean().optional().describe('MCP_SERVERS.USE'),
  create: z.boolean().optional().describe('MCP_SERVERS.CREATE'),
  share: z.boolean().optional().describe('MCP_SERVERS.SHARE'),
  public: z.boolean().optional().describe('MCP_SERVERS.SHARE_PUBLIC'),
  configureObo: z.boolean().optional().describe('MCP_SERVERS.CONFIGURE_OBO'),
};

const localized = z.union([z.string(), z.record(z.string(), z.string())]);

/** No defaults on purpose: what the file names overrides stored permissions at start, what it leaves out never does. */
export const InterfaceMcpServers = section({
  placeholder: z.string().optional().describe('Text of the empty picker.'),
  ...bits,
  trustCheckbox: section({
    label: localized.optional().describe('Text, or one text per language.'),
    subLabel: localized.optional().describe('Text, or one text per language.'),
  })
    .optional()
    .describe('The statement users confirm when they add a server.'),
  admin: section(bits)
    .optional()
    .describe('The same switches for the ADMIN role, which otherwise keeps all of them. Own key of Behalf.'),
  toolsRefreshInterval: unusedKey('LibreChat’s polling of tools.'),
  statusRefreshInterval: unusedKey('LibreChat’s polling of connection states.'),
});
export type InterfaceMcpServers = z.output<typeof InterfaceMcpServers>;

export const Interface = openSection({
  mcpServers: InterfaceMcpServers.optional().describe(
    'Permissions of the USER role, and texts. Only what is written is applied.',
  ),
});
export type Interface = z.output<typeof Interface>;
