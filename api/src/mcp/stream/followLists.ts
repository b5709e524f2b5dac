import {
  endpointServers,
  principalKey,
  type EndpointSelector,
  type EndpointParts,
  type JsonObject,
  type ListKind,
  type ListChanges,
  type Principal,
  type SubscribeParts,
} from '@behalf/gateway';
import type { Cancel, Clock } from '@behalf/kernel';
import { createOwnWatches } from './ownWatches.ts';

export interface ListNotice {
  readonly method: string;
  readonly params: JsonObject;
  readonly kind: ListKind;
}

export interface FollowedLists {
  /** Servers of which nothing is heard: more than a stream follows, or nothing is held open for them. */
  readonly unheard: readonly string[];
  stop(): void;
}

/** Tells one caller that a list of theirs at this endpoint has changed. */
export type FollowLists = (
  caller: Principal,
  endpoint: EndpointSelector,
  tell: (notice: ListNotice) => void,
  options?: {
    /** Also listens at the servers of which this caller has a connection of their own: it is held open meanwhile. */
    readonly own?: boolean;
  },
) => FollowedLists;

/** However often something changes, nobody is told more often than this. */
const SETTLE_MS = 1_000;

/** Only what this caller may use: that another server exists is not told by its changes either. */
export function createFollowLists({
  servers,
  news,
  clock,
}: {
  servers: EndpointParts & SubscribeParts;
  news: Pick<ListChanges, 'subscribe'>;
  clock: Clock;
}): FollowLists {
  return (caller, endpoint, tell, { own = false } = {}) => {
    const waiting = new Set<ListKind>();
    let cancel: Cancel | undefined;
    /** There may be other servers. */
    let others = false;
    const settle = () => {
      cancel = undefined;
      for (const kind of waiting) tell({ kind, method: `notifications/${kind}/list_changed`, params: {} });
      waiting.clear();
      if (others) watches?.update();
      others = false;
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
    const watches = own ? createOwnWatches(servers, caller, endpoint, changed) : undefined;
    const unsubscribe = news.subscribe(({ serverId, ownerKey: holderKey, kinds }) => {
      if (holderKey !== undefined && holderKey !== principalKey(caller)) return;
      if (serverId === undefined) others = true;
      // They are told already: whether it is theirs is asked once, however many changes come together.
      if (kinds.every((kind) => waiting.has(kind)) || !concerns(serverId)) return;
      changed(kinds);
    });
    return {
      unheard: watches?.unheard() ?? [],
      stop() {
        unsubscribe();
        cancel?.();
        watches?.stop();
      },
    };
  };
}
