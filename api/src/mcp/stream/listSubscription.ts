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
import { createOwnServerSubscriptions } from './ownServerSubscriptions.ts';

export interface ListNotification {
  readonly method: string;
  readonly params: JsonObject;
  readonly kind: ListKind;
}

export interface ListChangeSubscription {
  /** Servers of which nothing is heard: more than a stream follows, or nothing is held open for them. */
  readonly unsubscribedServers: readonly string[];
  stop(): void;
}

/** Tells one caller that a list of theirs at this endpoint has changed. */
export type SubscribeLists = (
  caller: Principal,
  endpoint: EndpointSelector,
  onNotification: (notification: ListNotification) => void,
  options?: {
    /** Also listens at the servers of which this caller has a connection of their own: it is held open meanwhile. */
    readonly includesOwn?: boolean;
  },
) => ListChangeSubscription;

/** However often something changes, nobody is told more often than this. */
const COALESCE_MS = 1_000;

/** Only what this caller may use: that another server exists is not told by its changes either. */
export function createSubscribeLists({
  servers,
  listChanges,
  clock,
}: {
  servers: EndpointParts & SubscribeParts;
  listChanges: Pick<ListChanges, 'subscribe'>;
  clock: Clock;
}): SubscribeLists {
  return (caller, endpoint, onNotification, { includesOwn = false } = {}) => {
    const pendingKinds = new Set<ListKind>();
    let cancel: Cancel | undefined;
    /** There may be other servers. */
    let hasServerChanges = false;
    const flush = () => {
      cancel = undefined;
      for (const kind of pendingKinds)
        onNotification({ kind, method: `notifications/${kind}/list_changed`, params: {} });
      pendingKinds.clear();
      if (hasServerChanges) ownSubscriptions?.update();
      hasServerChanges = false;
    };
    const isRelevant = (serverId: string | undefined) => {
      try {
        const visible = endpointServers(servers, caller, endpoint);
        return serverId === undefined || visible.some(({ id }) => id === serverId);
      } catch {
        // Their only server is gone, or not theirs any more: that is a change of the list too.
        return serverId === undefined;
      }
    };
    const markChanged = (kinds: readonly ListKind[]) => {
      for (const kind of kinds) pendingKinds.add(kind);
      cancel ??= clock.timer(COALESCE_MS, flush);
    };
    const ownSubscriptions = includesOwn
      ? createOwnServerSubscriptions(servers, caller, endpoint, markChanged)
      : undefined;
    const unsubscribe = listChanges.subscribe(({ serverId, ownerKey, kinds }) => {
      if (ownerKey !== undefined && ownerKey !== principalKey(caller)) return;
      if (serverId === undefined) hasServerChanges = true;
      // They are told already: whether it is theirs is asked once, however many changes come together.
      if (kinds.every((kind) => pendingKinds.has(kind)) || !isRelevant(serverId)) return;
      markChanged(kinds);
    });
    return {
      unsubscribedServers: ownSubscriptions?.unsubscribedServers() ?? [],
      stop() {
        unsubscribe();
        cancel?.();
        ownSubscriptions?.stop();
      },
    };
  };
}
