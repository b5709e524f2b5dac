import { requireResourceUpdates, routeResource } from '@behalf/gateway';
import { isLogLevel } from '../era.ts';
import { type Method, createMcpInbound } from '../request.ts';
import { invalidParams } from '../rpc.ts';
import type { SessionSubscriptions } from '../session/sessionLists.ts';
import type { SessionStates } from '../session/sessions.ts';
import { readUri } from './resources.ts';
import type { MethodParts } from './serverCallRunner.ts';

/** Methods that require a session. Notifications of subscribed resources arrive on the stream of the session. */
export function sessionMethods(
  { servers, requestIds }: MethodParts,
  states: Pick<SessionStates, 'setLevel'>,
  subscriptions: Pick<SessionSubscriptions, 'add' | 'remove'>,
): Readonly<Record<string, Method>> {
  return {
    ping: () => '{}',
    async 'logging/setLevel'({ params: { level }, session }) {
      if (!isLogLevel(level) || !session) throw invalidParams('params.level must be a level of RFC 5424');
      await states.setLevel(session, level);
      return '{}';
    },
    async 'resources/subscribe'(mcpRequest) {
      const publicUri = readUri(mcpRequest);
      const inbound = createMcpInbound(mcpRequest, requestIds());
      // Refuse an unknown URI, and a server that sends no updates, instead of a subscription without notifications.
      const { server } = await routeResource(servers, inbound, mcpRequest.endpoint, publicUri);
      await requireResourceUpdates(servers, server, inbound);
      if (mcpRequest.session) await subscriptions.add(mcpRequest.session, publicUri);
      return '{}';
    },
    async 'resources/unsubscribe'(mcpRequest) {
      if (mcpRequest.session) await subscriptions.remove(mcpRequest.session, readUri(mcpRequest));
      return '{}';
    },
  };
}
