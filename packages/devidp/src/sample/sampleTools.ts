import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

const nothing = { type: 'object' as const, properties: {}, additionalProperties: false };

const tools: Tool[] = [
  {
    name: 'whoami',
    title: 'Who am I?',
    description: 'Says whose token this server was shown, and what it is for.',
    inputSchema: nothing,
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
    description: 'Gives back a text.',
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
    if (params.name === 'echo' && typeof text === 'string') return said(text);
    return { ...said(`There is no tool ${params.name} that takes this.`), isError: true };
  });
  return mcp;
}

function whoami(auth: AuthInfo | undefined): CallToolResult {
  const claims = auth?.extra ?? {};
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const act = claims.act as { sub?: unknown } | undefined;
  const { scopes = [] } = auth ?? {};
  const who = {
    name: text(claims.name),
    subject: text(claims.sub) ?? '',
    username: text(claims.preferred_username),
    scopes,
    audience: String(claims.aud),
    issuer: text(claims.iss) ?? '',
    client: auth?.clientId ?? '',
    actor: text(act?.sub),
  };
  const known = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== undefined));
  const acting = who.actor === undefined ? '' : `, through ${who.actor}`;
  const sentence = `You are ${who.name ?? who.subject} (${who.subject})${acting}. The token is for ${who.audience}: ${scopes.join(' ')}.`;
  return { ...said(sentence), structuredContent: known };
}

function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
