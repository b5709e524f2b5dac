import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/sdk/server/auth/types.js';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Random } from '@behalf/kernel';
import { createSampleTools } from './sampleTools.ts';

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  readonly mcp: McpServer;
  /** Whose token began it. */
  readonly owner: string;
}

/** The oldest goes: who never says goodbye must not fill the memory. */
const MAX_SESSIONS = 5_000;

/** Sessions as the SDK's first line has them: begun by `initialize`, ended by DELETE, with a GET stream between. */
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
      // Its id is no proof: whoever comes with another user's session is told so.
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
