/**
 * What a personal API key may be used for: to list and call tools, to create and share servers, to administer, and to have
 * the owner's sign-in exchanged for tokens of servers. The last one is asked for besides the first.
 */
export const apiKeyScopes = ['mcp', 'servers', 'admin', 'obo'] as const;
export type ApiKeyScope = (typeof apiKeyScopes)[number];
