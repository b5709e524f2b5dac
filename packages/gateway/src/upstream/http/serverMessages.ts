import type { ServerRequests } from '../serverRequests.ts';
import { createDefaultResponse, type RpcResponseBody } from '../dialogue.ts';
import type { Bearer } from '../target.ts';
import type { HeaderValues, ServerNotification } from '../upstream.ts';
import { isObject, type JsonRpcMessage } from './readResponse.ts';

/** Answers to the server that may be under way at once: a flood of questions must not become a flood of requests. */
const MAX_CONCURRENT_RESPONSES = 16;

/** On which stream it came: what is presented with the answer, and who may be asked. */
export interface ServerRequestContext {
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

export const RESOURCE_UPDATED = 'notifications/resources/updated';
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

export interface NotificationListeners {
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
