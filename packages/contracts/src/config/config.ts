import { z } from 'zod';
import { AuthorizationServer } from './authorizationServer.ts';
import { Endpoints } from './endpoints.ts';
import { IdentityProviders } from './identityProviders.ts';
import { McpSettings } from './mcpSettings.ts';
import { openSection, section, unusedKey } from './section.ts';
import { McpServer } from './server.ts';

/** Top-level sections of LibreChat that have no effect in Behalf. */
export const unusedSections = [
  'actions',
  'balance',
  'cache',
  'cloudfront',
  'fileConfig',
  'fileStrategies',
  'fileStrategy',
  'filteredTools',
  'filters',
  'imageOutputType',
  'includedTools',
  'langfuse',
  'memory',
  'messageFilter',
  'modelSpecs',
  'ocr',
  'openapi',
  'permissions',
  'rateLimits',
  'registration',
  'secureImageLinks',
  'skillSync',
  'speech',
  'summarization',
  'transactions',
  'turnstile',
  'webSearch',
] as const;

/** Keys of `interface` in LibreChat besides `mcpServers`. */
export const unusedInterfaceKeys = [
  'agents',
  'autoSubmitFromUrl',
  'bookmarks',
  'buildInfo',
  'codeHighlightThrottleMs',
  'contextCost',
  'contextUsage',
  'currency',
  'customWelcome',
  'defaultPinnedTools',
  'endpointsMenu',
  'feedback',
  'fileCitations',
  'fileSearch',
  'generalChatRetention',
  'marketplace',
  'memories',
  'modelSelect',
  'multiConvo',
  'parameters',
  'peoplePicker',
  'presets',
  'privacyPolicy',
  'prompts',
  'remoteAgents',
  'retainAgentFiles',
  'retentionMode',
  'runCode',
  'schedules',
  'sharedLinks',
  'sidePanel',
  'skills',
  'temporaryChat',
  'temporaryChatRetention',
  'termsOfService',
  'traceViewer',
  'webSearch',
] as const;

const permissionFields = {
  use: z.boolean().optional().describe('MCP_SERVERS.USE'),
  create: z.boolean().optional().describe('MCP_SERVERS.CREATE'),
  share: z.boolean().optional().describe('MCP_SERVERS.SHARE'),
  public: z.boolean().optional().describe('MCP_SERVERS.SHARE_PUBLIC'),
  configureObo: z.boolean().optional().describe('MCP_SERVERS.CONFIGURE_OBO'),
};

const localizedText = z.union([z.string(), z.record(z.string(), z.string())]);

/** Has no defaults: permissions in the file override stored ones at start; absent ones do not. */
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

const unusedFields = Object.fromEntries(
  unusedSections.map((name) => [name, unusedKey('LibreChat section. Behalf ignores it.')]),
) as Record<(typeof unusedSections)[number], ReturnType<typeof unusedKey>>;

/** The keys of the file except `mcpServers`, whose entries are checked one by one. */
const topLevelFields = {
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

/** The schema of the whole file, for editors and the reference. `checkConfig` reads a file and explains problems. */
export const Config = section({
  mcpServers: mcpServers.optional().describe('The MCP servers, by name.'),
  ...topLevelFields,
});

export const ConfigWithoutServers = section(topLevelFields);
export type ConfigWithoutServers = z.output<typeof ConfigWithoutServers>;
