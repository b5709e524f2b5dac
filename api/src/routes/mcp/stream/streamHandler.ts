import { type EndpointParts, GatewayError, type JsonObject, endpointServers } from '@behalf/gateway';
import { type Clock, coalesce } from '@behalf/kernel';
import type { FastExchange } from '../../../http/route.ts';
import { createMessageStream } from '../../../http/sse.ts';
import type { ClientEndpoint } from '../endpoint.ts';
import { RpcFault, invalidRequest, rpcCode, rpcErrorText } from '../rpc.ts';
import type { SessionSubscriptions } from '../session/sessionLists.ts';
import type { ActiveSession, McpSession, RequireSession, SessionStates } from '../session/sessions.ts';
import type { SubscribeElicitations } from '../signIn.ts';
import type { OpenStreams, SessionStreams } from './openStreams.ts';
import { acceptsEventStream, sendAccepted } from './reply.ts';
import type { StreamBuffers } from './streamBuffer.ts';
import { type SubscribeLists, type SubscribeResources, listChangedMethod } from './subscriptions.ts';

export interface StreamHandlerParts {
  readonly servers: EndpointParts;
  readonly clock: Clock;
  readonly headers: readonly string[];
  readonly requireSession: RequireSession;
  readonly states: Pick<SessionStates, 'end'>;
  readonly sessionStreams: Pick<SessionStreams, 'openListener' | 'addResumed'>;
  readonly streamBuffers: Pick<StreamBuffers, 'resume'>;
  readonly streams: OpenStreams;
  readonly subscribeLists: SubscribeLists;
  readonly subscribeResources: SubscribeResources;
  readonly subscribeElicitations: SubscribeElicitations;
  readonly subscriptions: Pick<SessionSubscriptions, 'read'>;
}

/**
 * GET and DELETE of legacy sessions (MCP 2025-06-18, Streamable HTTP): the notification stream, resumed response streams, and the
 * end of a session.
 */
export function createStreamHandler(parts: StreamHandlerParts) {
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
    const notify = (key: string, method: string, params: JsonObject) =>
      stream.sendLatest(key, JSON.stringify({ jsonrpc: '2.0', method, params }));
    try {
      cleanups.push(streams.register(caller, end, session.expiresAt));
      const lists = subscribeLists(
        caller,
        endpoint,
        (kind) => notify(listChangedMethod(kind), listChangedMethod(kind), {}),
        {
          includesOwn: true,
        },
      );
      cleanups.push(() => lists.stop());
      const resources = subscribeResources(caller, endpoint, (uri) =>
        notify(uri, 'notifications/resources/updated', { uri }),
      );
      cleanups.push(() => resources.stop());
      // Coalesced, so that an older list of subscriptions never overwrites a newer one.
      const syncSubscriptions = coalesce(async () => {
        await resources.setUris(await subscriptions.read(session));
      });
      const elicitations = subscribeElicitations(caller, session, (elicitationId) =>
        notify(elicitationId, 'notifications/elicitation/complete', { elicitationId }),
      );
      cleanups.push(() => elicitations.stop());
      const onChange = () => {
        // If the store fails, the next change repeats the read.
        syncSubscriptions().catch(() => undefined);
        elicitations.check();
      };
      cleanups.push(sessionStreams.openListener(session, end, onChange));
      onChange();
    } catch (error) {
      cleanUp();
      throw error;
    }
    res.once('close', end);
    stream.start();
  }

  function resumeStream({ res, caller }: FastExchange, session: McpSession, lastEventId: string): void {
    const stream = createMessageStream(res, { clock, headers });
    const cleanups = [() => stream.close()];
    const end = () => stream.end();
    res.once('close', () => {
      for (const cleanup of cleanups.splice(0)) cleanup();
    });
    try {
      cleanups.push(streams.register(caller, end, session.expiresAt));
      cleanups.push(sessionStreams.addResumed(session, end));
      const leave = streamBuffers.resume(session.sessionKey, lastEventId, stream);
      if (!leave) throw invalidRequest('Last-Event-ID names no stream of this session');
      cleanups.push(leave);
    } catch (error) {
      stream.close();
      throw error;
    }
  }

  async function withSession(
    exchange: FastExchange,
    endpoint: ClientEndpoint,
    work: (active: ActiveSession) => void | Promise<void>,
  ): Promise<void> {
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
    get: (exchange: FastExchange, endpoint: ClientEndpoint): Promise<void> =>
      withSession(exchange, endpoint, ({ session }) => {
        const { req, res } = exchange;
        if (!acceptsEventStream(req.headers.accept))
          throw new RpcFault(rpcCode.invalidRequest, 'Accept must name text/event-stream', { status: 406 });
        // A client that disconnected while its session was read must not replace an existing reader.
        if (res.closed) return;
        const lastEventId = req.headers['last-event-id'];
        if (typeof lastEventId === 'string') resumeStream(exchange, session, lastEventId);
        else openStream(exchange, endpoint, session);
      }),
    delete: (exchange: FastExchange, endpoint: ClientEndpoint): Promise<void> =>
      withSession(exchange, endpoint, async ({ session }) => {
        await states.end(session);
        sendAccepted(exchange.res, headers, 204);
      }),
  };
}
