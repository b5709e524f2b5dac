import { httpStatus } from '@behalf/contracts';
import type { HotExchange } from '../../http.ts';
import { endpointKey, type DoorEndpoint } from '../doorEndpoint.ts';
import { header } from '../era.ts';
import { invalidRequest, RpcFault } from '../rpcFault.ts';
import type { McpSession, McpSessions } from './sessions.ts';
import type { SessionStates } from './sessionStates.ts';

export interface SessionAtDoor {
  readonly session: McpSession;
  /** As the client set it. */
  readonly logLevel: string | undefined;
}

export interface RequireSessionParts {
  readonly sessions: McpSessions;
  readonly states: Pick<SessionStates, 'read'>;
}

/** The session a request belongs to. Without one it is refused, and with one that has ended it is told to begin anew. */
export function createRequireSession({ sessions, states }: RequireSessionParts) {
  return async ({ req, caller }: HotExchange, endpoint: DoorEndpoint): Promise<SessionAtDoor> => {
    const id = header(req.headers, 'mcp-session-id');
    if (id === undefined) throw invalidRequest('Mcp-Session-Id is missing: begin with initialize');
    const session = sessions.open(id, caller, endpointKey(endpoint));
    if (!session) throw noSession();
    const version = header(req.headers, 'mcp-protocol-version');
    if (version !== undefined && version !== session.version)
      throw invalidRequest(`MCP-Protocol-Version must be ${session.version}, as agreed`);
    const known = states.read(session);
    const { ended, logLevel } = known instanceof Promise ? await known : known;
    if (ended) throw noSession();
    return { session, logLevel };
  };
}

/** The same for what never was one, what was ended and what is somebody else's. */
function noSession(): RpcFault {
  const status = httpStatus('NOT_FOUND');
  return new RpcFault(-(31_000 + status), 'No such session: begin with initialize', {
    data: { code: 'NOT_FOUND' },
    status,
  });
}
