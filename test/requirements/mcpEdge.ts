import type { Requirement } from '../requirements.ts';

/** What stands around the MCP endpoints: who may come in, and where to get a token. */
export const mcpEdge = {
  'mcp.resource.metadata': [
    'done',
    'Each MCP endpoint has a document that names the identity provider as its authorization server.',
  ],
  'mcp.resource.names': ['done', 'The documents of servers that exist and of servers that do not are alike.'],
  'mcp.resource.none': [
    'done',
    'Without an identity provider there is no document, and no challenge names one.',
  ],
  'mcp.resource.challenge': [
    'done',
    'A refusal at an MCP endpoint says where its document is and which scopes it wants; other doors do not.',
  ],
  'mcp.resource.audience': [
    'done',
    'A token that was issued for one MCP endpoint counts there and nowhere else in the gateway.',
  ],
  'mcp.resource.scope': [
    'done',
    'A user’s token without the scopes that are asked for is refused with all of them.',
  ],
  'mcp.clients.oauth': [
    'done',
    'Clients of both SDKs sign their user in at the identity provider and use the tools of all servers, in both eras.',
  ],
  'mcp.clients.librechat': [
    'done',
    'LibreChat uses the endpoint as one server of the file that the guide shows, with its user’s own token.',
  ],
  'mcp.clients.allowed': [
    'done',
    'A token that a client got which is not allowed opens no MCP endpoint, whoever its user is.',
  ],
  'mcp.token.stays': ['done', 'A token that a client presents at an MCP endpoint reaches no server.'],
  'mcp.capability.named': [
    'done',
    'A modern client is told which capability a server wants declared, where declaring it helps.',
  ],
} as const satisfies Record<string, Requirement>;
