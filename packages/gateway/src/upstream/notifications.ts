import { isObject } from '@behalf/kernel';
import { type RpcResponseBody, type ServerRequests, createDefaultResponse } from './dialogue.ts';
import { type JsonRpcMessage, objectOrEmpty } from './messages.ts';
import type { Bearer } from './target.ts';
import type { HeaderValues, JsonObject, ListKind, ListenOptions, ServerNotification } from './upstream.ts';

/** Default responses in progress. Limits the POST requests that a flood of server requests can cause. */
const MAX_CONCURRENT_RESPONSES = 16;

/** The stream on which a request of the server arrived. */
interface ServerRequestContext {
  /** Headers of the response. */
  readonly headers: HeaderValues;
  readonly bearer?: Bearer | undefined;
  /** Undefined if the request cannot be attributed to a call. */
  readonly serverRequests?: ServerRequests | undefined;
}

/** Responds to requests of the server: through the call to which a request belongs, or with a default response. */
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
      const forwarded = serverRequests?.forward(id, method, objectOrEmpty(params));
      if (forwarded) {
        // Not counted: `ServerRequests` has its own limit.
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
 * Returns the notification if all users may receive it: changes of lists, and updated resources for their subscribers.
 * Other notifications may concern one user. They are delivered only on the stream of that user's request.
 */
export function toChangeNotification({ method, params }: JsonRpcMessage): ServerNotification | undefined {
  if (typeof method !== 'string' || !CHANGE_NOTIFICATION.test(method)) return undefined;
  return { method, params: objectOrEmpty(params) };
}

type NotificationListener = (notification: ServerNotification) => void;

/** Limits updates of resources to these URIs. */
export function filterNotifications(
  listener: NotificationListener,
  resources: readonly string[] = [],
): NotificationListener {
  return (notification) => {
    const { method, params } = notification;
    if (method !== RESOURCE_UPDATED || resources.includes(String(params['uri']))) listener(notification);
  };
}

type ListenerOptions = Pick<ListenOptions, 'resources' | 'onSubscribedLists' | 'onSessionRenewed'>;

/**
 * The listeners of one upstream. An error of a listener affects neither the other listeners nor the call whose response
 * carried the notification. `onResourcesChange` receives the resources of all listeners, or undefined after the last
 * one was removed.
 */
export function createNotificationListeners(
  onResourcesChange?: (resources: readonly string[] | undefined) => void,
) {
  const listeners = new Set<ListenerOptions & { readonly onNotification: NotificationListener }>();
  let subscribedLists: readonly ListKind[] = [];

  function reportResources(): void {
    const all = new Set([...listeners].flatMap(({ resources = [] }) => resources));
    onResourcesChange?.(listeners.size > 0 ? [...all].sort() : undefined);
  }

  function forEachListener(
    action: (entry: ListenerOptions & { onNotification: NotificationListener }) => void,
  ) {
    for (const entry of [...listeners]) {
      try {
        action(entry);
      } catch {
        // Errors of a listener concern only that listener.
      }
    }
  }

  return {
    get size() {
      return listeners.size;
    },
    /** Returns a function that removes the listener. The same function may be added several times. */
    add(listener: NotificationListener, options: ListenerOptions = {}): () => void {
      const entry = { ...options, onNotification: filterNotifications(listener, options.resources) };
      listeners.add(entry);
      options.onSubscribedLists?.(subscribedLists);
      reportResources();
      return () => {
        if (listeners.delete(entry)) reportResources();
      };
    },
    emit: (notification: ServerNotification) =>
      forEachListener(({ onNotification }) => onNotification(notification)),
    emitSessionRenewed: () => forEachListener(({ onSessionRenewed }) => onSessionRenewed?.()),
    /** Sets the lists whose changes are delivered from now on. */
    setSubscribedLists(lists: readonly ListKind[]): void {
      subscribedLists = lists;
      forEachListener(({ onSubscribedLists }) => onSubscribedLists?.(lists));
    },
    clear: () => listeners.clear(),
  };
}

const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The lists for which the server declares `listChanged`. */
export function getAnnouncedLists(capabilities: JsonObject): readonly ListKind[] {
  return listKinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability['listChanged'] === true;
  });
}

/** The filter of `subscriptions/listen` for these lists. */
export function toListenFilter(lists: readonly ListKind[]): JsonObject {
  return Object.fromEntries(lists.map((kind) => [`${kind}ListChanged`, true]));
}

/** The lists that `notifications/subscriptions/acknowledged` accepts. Undefined for other messages. */
export function readAcknowledgedLists(
  { method, params }: JsonRpcMessage,
  lists: readonly ListKind[],
): readonly ListKind[] | undefined {
  if (method !== 'notifications/subscriptions/acknowledged') return undefined;
  const accepted = objectOrEmpty(objectOrEmpty(params)['notifications']);
  return lists.filter((kind) => accepted[`${kind}ListChanged`] === true);
}
