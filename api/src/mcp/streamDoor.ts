import { endpointServers, GatewayError, type EndpointParts, type JsonObject } from '@behalf/gateway';
import type { Clock } from '@behalf/kernel';
import type { HotExchange } from '../http.ts';
import type { DoorEndpoint } from './doorEndpoint.ts';
import { oneByOne } from './oneByOne.ts';
import type { FollowElicitations } from './stream/followElicitations.ts';
import type { FollowLists } from './stream/followLists.ts';
import type { FollowResources } from './stream/followResources.ts';
import { createMessageStream } from './stream/messageStream.ts';
import type { OpenStreams } from './stream/openStreams.ts';
import type { Replays } from './stream/replays.ts';
import { accepted, wantsEvents } from './stream/reply.ts';
import { faultText, invalidRequest, RpcFault } from './rpcFault.ts';
import type { SessionAtDoor } from './session/requireSession.ts';
import type { McpSession } from './session/sessions.ts';
import type { SessionStreams } from './session/sessionStreams.ts';
import type { Subscriptions } from './session/subscriptions.ts';
import type { SessionStates } from './session/sessionStates.ts';

export interface StreamDoorParts {
  readonly servers: EndpointParts;
  readonly clock: Clock;
  readonly headers: readonly string[];
  readonly requireSession: (exchange: HotExchange, endpoint: DoorEndpoint) => Promise<SessionAtDoor>;
  readonly states: Pick<SessionStates, 'end'>;
  readonly sessionStreams: Pick<SessionStreams, 'enter' | 'join'>;
  readonly replays: Pick<Replays, 'resume'>;
  readonly streams: OpenStreams;
  readonly followLists: FollowLists;
  readonly followResources: FollowResources;
  readonly followElicitations: FollowElicitations;
  readonly subscriptions: Pick<Subscriptions, 'read'>;
}

/** What only sessions have: a stream for what nobody asked for, streams that are taken up again, and an end. */
export interface StreamDoor {
  get(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
  delete(exchange: HotExchange, endpoint: DoorEndpoint): Promise<void>;
}

export function createStreamDoor(parts: StreamDoorParts): StreamDoor {
  const { servers, clock, headers, requireSession, states, sessionStreams, replays, streams } = parts;
  const { followLists, followResources, followElicitations, subscriptions } = parts;

  function open({ res, caller }: HotExchange, endpoint: DoorEndpoint, session: McpSession): void {
    const stream = createMessageStream(res, { clock, headers });
    const stops: (() => void)[] = [() => stream.close()];
    const stop = () => {
      for (const one of stops.splice(0)) one();
    };
    const end = () => {
      stop();
      stream.end();
    };
    try {
      stops.push(streams.enter(caller, end, session.expiresAt));
      const lists = followLists(
        caller,
        endpoint,
        ({ method, params }) => stream.tell(method, notice(method, params)),
        { own: true },
      );
      stops.push(() => lists.stop());
      const resources = followResources(caller, endpoint, (uri) =>
        stream.tell(uri, notice('notifications/resources/updated', { uri })),
      );
      stops.push(() => resources.stop());
      // One after the other: of two that overtake each other the older would be the last word.
      const follow = oneByOne(async () => {
        await resources.follow(await subscriptions.read(session));
      });
      const elicited = followElicitations(caller, session, (elicitationId) =>
        stream.tell(elicitationId, notice('notifications/elicitation/complete', { elicitationId })),
      );
      stops.push(() => elicited.stop());
      const look = () => {
        follow();
        elicited.look();
      };
      stops.push(sessionStreams.enter(session, end, look));
      look();
    } catch (error) {
      // Whatever failed on the way: no slot stays taken by a stream that nobody reads.
      stop();
      throw error;
    }
    res.once('close', end);
    stream.begin();
  }

  async function serve(
    exchange: HotExchange,
    endpoint: DoorEndpoint,
    work: (at: SessionAtDoor) => void | Promise<void>,
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
      json(error.status, faultText(null, error));
    }
  }

  return {
    get: (exchange, endpoint) =>
      serve(exchange, endpoint, ({ session }) => {
        const { req, res, caller } = exchange;
        if (!wantsEvents(req.headers.accept)) {
          throw new RpcFault(invalidRequest('').code, 'Accept must name text/event-stream', { status: 406 });
        }
        // They left while their session was looked for. Who reads already is not sent away for them.
        if (res.closed) return;
        const { place } = session;
        const last = req.headers['last-event-id'];
        if (typeof last !== 'string') return open(exchange, endpoint, session);
        const stream = createMessageStream(res, { clock, headers });
        const stops = [() => stream.close()];
        const end = () => stream.end();
        res.once('close', () => {
          for (const one of stops.splice(0)) one();
        });
        try {
          stops.push(streams.enter(caller, end, session.expiresAt));
          stops.push(sessionStreams.join(session, end));
          const stop = replays.resume(place, last, stream);
          if (!stop) throw invalidRequest('Last-Event-ID names no stream of this session');
          stops.push(stop);
        } catch (error) {
          stream.close();
          throw error;
        }
      }),
    delete: (exchange, endpoint) =>
      serve(exchange, endpoint, async ({ session }) => {
        await states.end(session);
        accepted(exchange.res, headers, 204);
      }),
  };
}

function notice(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}
