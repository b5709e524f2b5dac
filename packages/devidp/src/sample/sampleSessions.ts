import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Random } from '@behalf/kernel';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly mcp: McpServer;
  /** The user whose token created the session. */
  readonly owner: string;
}

/** Limits memory. The oldest session is dropped. */
const MAX_SESSIONS = 5_000;

/** Legacy MCP sessions: created by `initialize`, ended by DELETE, with a GET stream. */
export function createSampleSessions({ name, random }: { name: string; random: Random }) {
  const sessions = new Map<string, Session>();
  let calls = 0;
  let streams = 0;

  async function openSession(owner: string): Promise<StreamableHTTPServerTransport> {
    const mcp = createSampleTools({ name, onCall: () => void (calls += 1) });
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => random.id(),
      onsessioninitialized: async (id) => {
        sessions.set(id, { transport, mcp, owner });
        const [oldest] = sessions;
        if (oldest && sessions.size > MAX_SESSIONS) await closeSession(...oldest);
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await mcp.connect(transport);
    return transport;
  }

  async function closeSession(id: string, { mcp }: Session): Promise<void> {
    sessions.delete(id);
    await mcp.close();
  }

  return {
    calls: () => calls,
    count: () => sessions.size,
    streams: () => streams,
    async handle(req: IncomingMessage & { auth?: AuthInfo }, res: ServerResponse, owner: string) {
      const id = req.headers['mcp-session-id'];
      if (id === undefined) return (await openSession(owner)).handleRequest(req, res);
      const session = sessions.get(String(id));
      if (!session) return void res.writeHead(404).end();
      // The session ID proves nothing: a session of another user is refused.
      if (session.owner !== owner) return void res.writeHead(403).end();
      if (req.method === 'GET') {
        streams += 1;
        res.once('close', () => void (streams -= 1));
      }
      return session.transport.handleRequest(req, res);
    },
    async closeAll() {
      for (const entry of [...sessions]) await closeSession(...entry);
    },
    async notifyToolsChanged() {
      for (const { mcp } of sessions.values()) await mcp.server.sendToolListChanged();
    },
  };
}

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

/** The MCP server of one session. Each request uses its own token. */
function createSampleTools({ name, onCall }: { name: string; onCall: () => void }): McpServer {
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
