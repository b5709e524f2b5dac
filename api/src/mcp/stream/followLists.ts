import {
  endpointServers,
  principalKey,
  type Endpoint,
  type EndpointParts,
  type Json,
  type ListKind,
  type ListNews,
  type Principal,
} from '@behalf/gateway';
import type { Cancel, Clock } from '@behalf/kernel';

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
) => () => void;

/** However often something changes, nobody is told more often than this. */
const SETTLE_MS = 1_000;

/** Only what this caller may use: that another server exists is not told by its changes either. */
export function createFollowLists({
  servers,
  news,
  clock,
}: {
  servers: EndpointParts;
  news: Pick<ListNews, 'subscribe'>;
  clock: Clock;
}): FollowLists {
  return (caller, endpoint, tell) => {
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
    const unsubscribe = news.subscribe(({ serverId, holderKey, kinds }) => {
      if (holderKey !== undefined && holderKey !== principalKey(caller)) return;
      if (!concerns(serverId)) return;
      for (const kind of kinds) waiting.add(kind);
      cancel ??= clock.timer(SETTLE_MS, settle);
    });
    return () => {
      unsubscribe();
      cancel?.();
    };
  };
}
