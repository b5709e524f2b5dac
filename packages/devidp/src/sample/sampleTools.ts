import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

const emptySchema = { type: 'object' as const, properties: {}, additionalProperties: false };

const tools: Tool[] = [
  {
    name: 'whoami',
    title: 'Who am I?',
    description: 'Returns the user and the scopes of the token that this server received.',
    inputSchema: emptySchema,
    annotations: { readOnlyHint: true },
    outputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        subject: { type: 'string' },
        username: { type: 'string' },
        scopes: { type: 'array', items: { type: 'string' } },
        audience: { type: 'string' },
        issuer: { type: 'string' },
        client: { type: 'string' },
        actor: { type: 'string' },
      },
      required: ['subject', 'scopes', 'audience', 'issuer', 'client'],
    },
  },
  {
    name: 'echo',
    title: 'Echo',
    description: 'Returns the text.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    annotations: { readOnlyHint: true },
  },
];

/** One session's server. The token is that of each request, never that of the first one. */
export function createSampleTools({ name, onCall }: { name: string; onCall: () => void }): McpServer {
  const mcp = new McpServer({ name, version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
  mcp.server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
  mcp.server.setRequestHandler(CallToolRequestSchema, ({ params }, { authInfo }) => {
    onCall();
    if (params.name === 'whoami') return whoami(authInfo);
    const { text } = params.arguments ?? {};
    if (params.name === 'echo' && typeof text === 'string') return textResult(text);
    return { ...textResult(`There is no tool ${params.name} with these arguments.`), isError: true };
  });
  return mcp;
}

function whoami(auth: AuthInfo | undefined): CallToolResult {
  const claims = auth?.extra ?? {};
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const act = claims.act as { sub?: unknown } | undefined;
  const { scopes = [] } = auth ?? {};
  const identity = {
    name: text(claims.name),
    subject: text(claims.sub) ?? '',
    username: text(claims.preferred_username),
    scopes,
    audience: String(claims.aud),
    issuer: text(claims.iss) ?? '',
    client: auth?.clientId ?? '',
    actor: text(act?.sub),
  };
  const definedFields = Object.fromEntries(
    Object.entries(identity).filter(([, value]) => value !== undefined),
  );
  const actorText = identity.actor === undefined ? '' : `, through ${identity.actor}`;
  const sentence = `You are ${identity.name ?? identity.subject} (${identity.subject})${actorText}. The token is for ${identity.audience}: ${scopes.join(' ')}.`;
  return { ...textResult(sentence), structuredContent: definedFields };
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
