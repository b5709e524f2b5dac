import type { Method } from '../mcpRequest.ts';
import { isLogLevel } from '../logLevels.ts';
import { RpcFault, rpcCode } from '../rpcFault.ts';
import type { SessionStates } from '../session/sessionStates.ts';

/** What only a client with a session asks. */
export function sessionMethods(states: Pick<SessionStates, 'setLevel'>): Readonly<Record<string, Method>> {
  return {
    ping: () => '{}',
    async 'logging/setLevel'({ params: { level }, session }) {
      if (!isLogLevel(level) || !session)
        throw new RpcFault(rpcCode.invalidParams, 'params.level must be a level of RFC 5424');
      await states.setLevel(session, level);
      return '{}';
    },
  };
}
