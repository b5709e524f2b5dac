import { type RpcResponseBody, type ServerRequests, createDefaultResponse } from './dialogue.ts';
import { type JsonRpcMessage, isObject } from './messages.ts';
import type { Bearer } from './target.ts';
import type { HeaderValues, JsonObject, ListKind, ListenOptions, ServerNotification } from './upstream.ts';

/** Answers to the server that may be under way at once: a flood of questions must not become a flood of requests. */
const MAX_CONCURRENT_RESPONSES = 16;

/** On which stream it came: what is presented with the answer, and who may be asked. */
interface ServerRequestContext {
  readonly headers: HeaderValues;
  readonly bearer?: Bearer | undefined;
  /** Absent where nothing says for whose call the server asks. */
  readonly serverRequests?: ServerRequests | undefined;
}

/** A request of the server, on whatever stream: it is answered, by us or by the one whose call it belongs to. */
export interface ServerRequestResponder {
  respond(message: JsonRpcMessage, context: ServerRequestContext): void;
}

type PostMessage = (body: string, headers: HeaderValues, bearer?: Bearer) => Promise<void>;

export function createServerRequestResponder(post: PostMessage): ServerRequestResponder {
  let activeCount = 0;
  return {
    respond({ id, method, params }, { headers, bearer, serverRequests }) {
      if ((typeof id !== 'string' && typeof id !== 'number') || activeCount >= MAX_CONCURRENT_RESPONSES)
        return;
      const send = (reply: RpcResponseBody) =>
        post(JSON.stringify({ jsonrpc: '2.0', id, ...reply }), headers, bearer);
      const forwarded = serverRequests?.forward(id, method, isObject(params) ? params : {});
      if (forwarded) {
        // They are few by themselves, and each took somebody's time.
        void forwarded.then(send);
        return;
      }
      activeCount += 1;
      void send(createDefaultResponse(method)).finally(() => {
        activeCount -= 1;
      });
    },
  };
}

const RESOURCE_UPDATED = 'notifications/resources/updated';
const CHANGE_NOTIFICATION =
  /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/;

/**
 * Only changes of lists are for everybody, and an updated resource for who subscribed it (`filterNotifications`). Anything else that
 * comes unasked may be about one user, and which one is known only to the stream of that user's own request.
 */
export function toChangeNotification({ method, params }: JsonRpcMessage): ServerNotification | undefined {
  if (typeof method !== 'string' || !CHANGE_NOTIFICATION.test(method)) return undefined;
  return { method, params: isObject(params) ? params : {} };
}

/** Tells a listener what is meant for it. */
export function filterNotifications(
  listener: (notification: ServerNotification) => void,
  resources: readonly string[] = [],
): (notification: ServerNotification) => void {
  return (notification) => {
    const { method, params } = notification;
    if (method !== RESOURCE_UPDATED || resources.includes(String(params['uri']))) listener(notification);
  };
}

interface NotificationListeners {
  readonly size: number;
  add(listener: (notification: ServerNotification) => void): void;
  delete(listener: (notification: ServerNotification) => void): void;
  emit(notification: ServerNotification): void;
}

export function createNotificationListeners(): NotificationListeners {
  const listeners = new Set<(notification: ServerNotification) => void>();
  return {
    get size() {
      return listeners.size;
    },
    add: (listener) => void listeners.add(listener),
    delete: (listener) => void listeners.delete(listener),
    emit(notification) {
      for (const listener of [...listeners]) {
        try {
          listener(notification);
        } catch {
          // It came on somebody's answer, who must not lose it over a listener's fault.
        }
      }
    },
  };
}

interface ChannelListeners {
  /** Everybody hears of lists; of a resource, who names it. */
  add(
    listener: (notification: ServerNotification) => void,
    options?: Pick<ListenOptions, 'resources' | 'onSubscribedLists'>,
  ): () => void;
  emit(notification: ServerNotification): void;
  /** Of which lists changes are heard from now on, until it is said anew. */
  setSubscribedLists(lists: readonly ListKind[]): void;
  clear(): void;
}

interface ChannelListener {
  readonly onNotification: (notification: ServerNotification) => void;
  readonly resources: readonly string[];
  readonly onSubscribedLists: ((lists: readonly ListKind[]) => void) | undefined;
}

/** Whoever listens. `onWanted` hears which resources they want to hear of together, or undefined when the last has left. */
export function createChannelListeners(
  onResourcesChange: (resources: readonly string[] | undefined) => void,
): ChannelListeners {
  const listeners = new Set<ChannelListener>();
  let subscribedLists: readonly ListKind[] = [];

  function reportResources(): void {
    const all = new Set([...listeners].flatMap(({ resources }) => resources));
    onResourcesChange(listeners.size > 0 ? [...all].sort() : undefined);
  }

  function forEachListener(action: (entry: ChannelListener) => void): void {
    for (const entry of [...listeners]) {
      try {
        action(entry);
      } catch {
        // Its own affair; the others must hear too.
      }
    }
  }

  return {
    add(listener, { resources = [], onSubscribedLists } = {}) {
      // The same function may listen twice and stop once.
      const entry = {
        onNotification: filterNotifications(listener, resources),
        resources,
        onSubscribedLists,
      };
      listeners.add(entry);
      onSubscribedLists?.(subscribedLists);
      reportResources();
      return () => {
        if (listeners.delete(entry)) reportResources();
      };
    },
    emit: (notification) => forEachListener(({ onNotification }) => onNotification(notification)),
    setSubscribedLists(lists) {
      subscribedLists = lists;
      forEachListener(({ onSubscribedLists }) => onSubscribedLists?.(lists));
    },
    clear: () => listeners.clear(),
  };
}

const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The lists whose changes this server says it announces. */
export function getAnnouncedLists(capabilities: JsonObject): readonly ListKind[] {
  return listKinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}

/** How a modern server is asked for them. */
export function toListenFilter(lists: readonly ListKind[]): JsonObject {
  return Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true]));
}

/** What it says it will tell, of those; undefined: it is another message. */
export function readAcknowledgedLists(
  { method, params }: { readonly method?: unknown; readonly params?: unknown },
  lists: readonly ListKind[],
): readonly ListKind[] | undefined {
  if (method !== 'notifications/subscriptions/acknowledged') return undefined;
  const accepted = isObject(params) && isObject(params['notifications']) ? params['notifications'] : {};
  return lists.filter((kind) => accepted[`${kind}ListChanged`] === true);
}
