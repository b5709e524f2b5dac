import { endpointServers, GatewayError, type Endpoint, type EndpointParts, type Json } from '@behalf/gateway';
import type { ChangeFeed } from '@behalf/gateway/ports';
import type { Clock } from '@behalf/kernel';
import type { HotExchange } from '../http.ts';
import type { FollowLists } from './stream/followLists.ts';
import type { FollowResources } from './stream/followResources.ts';
import { createMessageStream } from './stream/messageStream.ts';
import type { OpenStreams } from './stream/openStreams.ts';
import type { Replays } from './stream/replays.ts';
import { accepted, wantsEvents } from './stream/reply.ts';
import { faultText, invalidRequest, RpcFault } from './rpcFault.ts';
import type { Mailbox } from './session/mailbox.ts';
import type { SessionAtDoor } from './session/requireSession.ts';
import type { McpSession } from './session/sessions.ts';
import type { Subscriptions } from './session/subscriptions.ts';
import type { SessionStates } from './session/sessionStates.ts';

export interface StreamDoorParts {
  readonly servers: EndpointParts;
  readonly clock: Clock;
  readonly headers: readonly string[];
  readonly requireSession: (exchange: HotExchange, endpoint: Endpoint) => Promise<SessionAtDoor>;
  readonly states: Pick<SessionStates, 'end'>;
  readonly mailbox: Pick<Mailbox, 'post' | 'wait'>;
  readonly replays: Pick<Replays, 'resume'>;
  readonly streams: OpenStreams;
  readonly followLists: FollowLists;
  readonly followResources: FollowResources;
  readonly subscriptions: Pick<Subscriptions, 'read'>;
  readonly changes: Pick<ChangeFeed, 'subscribe'>;
}

/** What only sessions have: a stream for what nobody asked for, streams that are taken up again, and an end. */
export interface StreamDoor {
  get(exchange: HotExchange, endpoint: Endpoint): Promise<void>;
  delete(exchange: HotExchange, endpoint: Endpoint): Promise<void>;
}

const ENDED = 'ended';

export function createStreamDoor(parts: StreamDoorParts): StreamDoor {
  const { servers, clock, headers, requireSession, states, mailbox, replays, streams } = parts;
  const { followLists, followResources, subscriptions, changes } = parts;
  /** One for each session: what is told is told once, and the last to come is the one that reads. */
  const current = new Map<string, () => void>();

  function open({ res, caller }: HotExchange, endpoint: Endpoint, session: McpSession): void {
    const { place } = session;
    const stream = createMessageStream(res, { clock, headers });
    const stops: (() => void)[] = [() => stream.close()];
    const stop = () => {
      for (const one of stops.splice(0)) one();
    };
    const end = () => {
      stop();
      if (current.get(place.key) === end) current.delete(place.key);
      stream.end();
    };
    try {
      stops.push(streams.enter(caller, end));
      stops.push(
        followLists(
          caller,
          endpoint,
          ({ method, params }) => stream.hint(notice(method, params)),
          // A client keeps this stream all day: what it costs must not grow with the number of servers.
          { own: endpoint.kind === 'one' },
        ),
      );
      stops.push(mailbox.wait(place, ENDED, end));
      const resources = followResources(caller, endpoint, (uri) =>
        stream.hint(notice('notifications/resources/updated', { uri })),
      );
      stops.push(() => resources.stop());
      const follow = () => {
        subscriptions
          .read(session)
          .then((addresses) => resources.follow(addresses))
          .catch(ignore);
      };
      stops.push(
        changes.subscribe(({ topic, id }) => {
          if (topic === 'mcp' && (id === session.key || id === '*')) follow();
        }),
      );
      follow();
    } catch (error) {
      // Whatever failed on the way: no slot stays taken by a stream that nobody reads.
      stop();
      throw error;
    }
    current.get(place.key)?.();
    current.set(place.key, end);
    res.once('close', end);
    stream.begin();
  }

  async function serve(
    exchange: HotExchange,
    endpoint: Endpoint,
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
        const leave = streams.enter(caller, () => stream.end());
        const stream = createMessageStream(res, { clock, headers });
        const stops = [leave, () => stream.close()];
        res.once('close', () => {
          for (const one of stops.splice(0)) one();
        });
        const stop = replays.resume(place, last, stream);
        if (stop) return void stops.push(stop);
        stream.close();
        throw invalidRequest('Last-Event-ID names no stream of this session');
      }),
    delete: (exchange, endpoint) =>
      serve(exchange, endpoint, async ({ session }) => {
        await states.end(session);
        await mailbox.post(session.place, ENDED, ENDED);
        accepted(exchange.res, headers, 204);
      }),
  };
}

function notice(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function ignore(): void {
  // The store does not answer: the next notice asks again.
}
