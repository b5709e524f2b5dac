import { httpStatus } from '@behalf/contracts';
import type { FastExchange } from '../../http/routes.ts';
import { endpointKey, type ClientEndpoint } from '../clientEndpoint.ts';
import { singleHeader } from '../era.ts';
import { invalidRequest, RpcFault } from '../rpcFault.ts';
import type { McpSession, McpSessions } from './sessions.ts';
import type { SessionStates } from './sessionStates.ts';

export interface ActiveSession {
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
  return async ({ req, caller }: FastExchange, endpoint: ClientEndpoint): Promise<ActiveSession> => {
    const id = singleHeader(req.headers, 'mcp-session-id');
    if (id === undefined) throw invalidRequest('Mcp-Session-Id is missing: send initialize first');
    const session = sessions.open(id, caller, endpointKey(endpoint));
    if (!session) throw sessionNotFound();
    const version = singleHeader(req.headers, 'mcp-protocol-version');
    if (version !== undefined && version !== session.version)
      throw invalidRequest(`MCP-Protocol-Version must be ${session.version}, the negotiated version`);
    const state = states.read(session);
    const { isEnded, logLevel } = state instanceof Promise ? await state : state;
    if (isEnded) throw sessionNotFound();
    return { session, logLevel };
  };
}

/** The same for what never was one, what was ended and what is somebody else's. */
function sessionNotFound(): RpcFault {
  const status = httpStatus('NOT_FOUND');
  return new RpcFault(-(31_000 + status), 'Session not found: send initialize to start a new session', {
    data: { code: 'NOT_FOUND' },
    status,
  });
}
