import { type EndpointParts, GatewayError, type JsonObject, endpointServers } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { createMessageStream } from '../../../http/sse.ts';
import type { ClientEndpoint } from '../endpoint.ts';
import { RpcFault, invalidRequest, rpcErrorText } from '../rpc.ts';
import type { ActiveSession, McpSession, SessionStates } from '../session/sessions.ts';
import type { SessionSubscriptions } from '../session/sharedLists.ts';
import { type SubscribeElicitations, coalesceRuns } from '../signIn.ts';
import type { OpenStreams, SessionStreams } from './openStreams.ts';
import { acceptsEventStream, sendAccepted } from './reply.ts';
import type { StreamBuffers } from './streamBuffer.ts';
import type { SubscribeLists, SubscribeResources } from './subscriptions.ts';

export interface StreamHandlerParts {
  readonly servers: EndpointParts;
  readonly clock: Clock;
  readonly headers: readonly string[];
  readonly requireSession: (exchange: FastExchange, endpoint: ClientEndpoint) => Promise<ActiveSession>;
  readonly states: Pick<SessionStates, 'end'>;
  readonly sessionStreams: Pick<SessionStreams, 'openListener' | 'add2'>;
  readonly streamBuffers: Pick<StreamBuffers, 'resume'>;
  readonly streams: OpenStreams;
  readonly subscribeLists: SubscribeLists;
  readonly subscribeResources: SubscribeResources;
  readonly subscribeElicitations: SubscribeElicitations;
  readonly subscriptions: Pick<SessionSubscriptions, 'read'>;
}

/** What only sessions have: a stream for what nobody asked for, streams that are taken up again, and an end. */
interface StreamHandler {
  get(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
  delete(exchange: FastExchange, endpoint: ClientEndpoint): Promise<void>;
}

export function createStreamHandler(parts: StreamHandlerParts): StreamHandler {
  const { servers, clock, headers, requireSession, states, sessionStreams, streamBuffers, streams } = parts;
  const { subscribeLists, subscribeResources, subscribeElicitations, subscriptions } = parts;

  function openStream({ res, caller }: FastExchange, endpoint: ClientEndpoint, session: McpSession): void {
    const stream = createMessageStream(res, { clock, headers });
    const cleanups: (() => void)[] = [() => stream.close()];
    const cleanUp = () => {
      for (const cleanup of cleanups.splice(0)) cleanup();
    };
    const end = () => {
      cleanUp();
      stream.end();
    };
    try {
      cleanups.push(streams.register(caller, end, session.expiresAt));
      const lists = subscribeLists(
        caller,
        endpoint,
        ({ method, params }) => stream.sendLatest(method, notificationText(method, params)),
        { includesOwn: true },
      );
      cleanups.push(() => lists.stop());
      const resources = subscribeResources(caller, endpoint, (uri) =>
        stream.sendLatest(uri, notificationText('notifications/resources/updated', { uri })),
      );
      cleanups.push(() => resources.stop());
      // One after the other: of two that overtake each other the older would be the last word.
      const syncSubscriptions = coalesceRuns(async () => {
        await resources.setUris(await subscriptions.read(session));
      });
      const elicitations = subscribeElicitations(caller, session, (elicitationId) =>
        stream.sendLatest(
          elicitationId,
          notificationText('notifications/elicitation/complete', { elicitationId }),
        ),
      );
      cleanups.push(() => elicitations.stop());
      const onChange = () => {
        syncSubscriptions();
        elicitations.check();
      };
      cleanups.push(sessionStreams.openListener(session, end, onChange));
      onChange();
    } catch (error) {
      // Whatever failed on the way: no slot stays taken by a stream that nobody reads.
      cleanUp();
      throw error;
    }
    res.once('close', end);
    stream.start();
  }

  async function withSession(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    work: (active: ActiveSession) => void | Promise<void>,
  ) {
    const { req, res, caller, json } = exchange;
    try {
      if (endpoint.kind === 'one') endpointServers(servers, caller, endpoint);
      if (req.headers['mcp-session-id'] === undefined) {
        res.setHeader('Allow', 'POST');
        throw new GatewayError('METHOD_NOT_ALLOWED');
      }
      await work(await requireSession(exchange, endpoint));
    } catch (error) {
      if (!(error instanceof RpcFault) || res.headersSent) throw error;
      json(error.status, rpcErrorText(null, error));
    }
  }

  return {
    get: (exchange, endpoint) =>
      withSession(exchange, endpoint, ({ session }) => {
        const { req, res, caller } = exchange;
        if (!acceptsEventStream(req.headers.accept)) {
          throw new RpcFault(invalidRequest('').code, 'Accept must name text/event-stream', { status: 406 });
        }
        // They left while their session was looked for. Who reads already is not sent away for them.
        if (res.closed) return;
        const { sessionKey } = session;
        const lastEventId = req.headers['last-event-id'];
        if (typeof lastEventId !== 'string') return openStream(exchange, endpoint, session);
        const stream = createMessageStream(res, { clock, headers });
        const cleanups = [() => stream.close()];
        const end = () => stream.end();
        res.once('close', () => {
          for (const cleanup of cleanups.splice(0)) cleanup();
        });
        try {
          cleanups.push(streams.register(caller, end, session.expiresAt));
          cleanups.push(sessionStreams.add2(session, end));
          const detach = streamBuffers.resume(sessionKey, lastEventId, stream);
          if (!detach) throw invalidRequest('Last-Event-ID names no stream of this session');
          cleanups.push(detach);
        } catch (error) {
          stream.close();
          throw error;
        }
      }),
    delete: (exchange, endpoint) =>
      withSession(exchange, endpoint, async ({ session }) => {
        await states.end(session);
        sendAccepted(exchange.res, headers, 204);
      }),
  };
}

function notificationText(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}
