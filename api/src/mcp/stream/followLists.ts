import {
  endpointServers,
  listKinds,
  principalKey,
  type Endpoint,
  type EndpointParts,
  type Inbound,
  type Json,
  type ListKind,
  type ListNews,
  type Principal,
  type Watch,
  type WatchParts,
  watchServer,
} from '@behalf/gateway';
import { LightCancellation, type Cancel, type Clock } from '@behalf/kernel';

export interface ListNotice {
  readonly method: string;
  readonly params: Json;
  readonly kind: ListKind;
}

/** Tells one caller that a list of theirs at this endpoint has changed. Returns how to stop. */
export type FollowLists = (
  caller: Principal,
  endpoint: Endpoint,
  tell: (notice: ListNotice) => void,
  options?: {
    /** Also listens at the servers of which this caller has a connection of their own: it is held open meanwhile. */
    readonly own?: boolean;
  },
) => () => void;

/** However often something changes, nobody is told more often than this. */
const SETTLE_MS = 1_000;

/** Only what this caller may use: that another server exists is not told by its changes either. */
export function createFollowLists({
  servers,
  news,
  clock,
}: {
  servers: EndpointParts & WatchParts;
  news: Pick<ListNews, 'subscribe'>;
  clock: Clock;
}): FollowLists {
  return (caller, endpoint, tell, { own = false } = {}) => {
    const waiting = new Set<ListKind>();
    let cancel: Cancel | undefined;
    const settle = () => {
      cancel = undefined;
      for (const kind of waiting) tell({ kind, method: `notifications/${kind}/list_changed`, params: {} });
      waiting.clear();
    };
    const concerns = (serverId: string | undefined) => {
      try {
        const seen = endpointServers(servers, caller, endpoint);
        return serverId === undefined || seen.some(({ id }) => id === serverId);
      } catch {
        // Their only server is gone, or not theirs any more: that is a change of the list too.
        return serverId === undefined;
      }
    };
    const changed = (kinds: readonly ListKind[]) => {
      for (const kind of kinds) waiting.add(kind);
      cancel ??= clock.timer(SETTLE_MS, settle);
    };
    const watches = own ? watchOwn(servers, caller, endpoint, changed) : [];
    const unsubscribe = news.subscribe(({ serverId, holderKey, kinds }) => {
      if (holderKey !== undefined && holderKey !== principalKey(caller)) return;
      // They are told already: whether it is theirs is asked once, however many changes come together.
      if (kinds.every((kind) => waiting.has(kind)) || !concerns(serverId)) return;
      changed(kinds);
    });
    return () => {
      unsubscribe();
      cancel?.();
      for (const watch of watches) watch.stop();
    };
  };
}

/** So many of one's own connections are worth a stream. */
const MOST_OWN = 8;

function watchOwn(
  servers: EndpointParts & WatchParts,
  caller: Principal,
  endpoint: Endpoint,
  changed: (kinds: readonly ListKind[]) => void,
): Watch[] {
  const inbound: Inbound = { principal: caller, door: 'mcp', signal: new LightCancellation() };
  return ownServers(servers, caller, endpoint).flatMap((server) => {
    try {
      return [
        watchServer(servers, server.name, inbound, ({ method }) => {
          const kind = listKinds.find((one) => method === `notifications/${one}/list_changed`);
          if (kind === undefined) return;
          servers.listings.expire(server.id, principalKey(caller));
          changed([kind]);
        }),
      ];
    } catch {
      // They watch as much as one may: what changes there is seen when it is asked for.
      return [];
    }
  });
}

function ownServers(servers: EndpointParts, caller: Principal, endpoint: Endpoint) {
  try {
    const seen = endpointServers(servers, caller, endpoint);
    return seen.filter(({ scope }) => scope === 'user').slice(0, MOST_OWN);
  } catch {
    // Their only server went while they came in: they are told when it is theirs again.
    return [];
  }
}
