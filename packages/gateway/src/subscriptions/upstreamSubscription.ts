import type { Cancel, Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerNotification } from '../upstream/upstream.ts';
import type { ServerSubscription, Subscriber } from './serverSubscriptions.ts';

const BASE_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Resources per subscriber. Equals the limit of a session, whose resources may all belong to one server. */
const MAX_RESOURCES = 100;
const MAX_URI_LENGTH = 4_096;
/** Each update sends all URIs to the server, so their total length is limited per user and for all users. */
const MAX_URI_TEXT_PER_USER = 64 * 1024;
const MAX_URI_TEXT_TOTAL = 512 * 1024;
/** Updates of the resource list that are sent at once. Further updates are combined per interval. */
const MAX_UPDATE_BURST = 16;
const UPDATE_INTERVAL_MS = 250;
/** Subscribers that are notified before other work of this process continues. */
const FAN_OUT_BATCH_SIZE = 100;
/** Minimum interval between equal notifications. */
const COALESCE_MS = 1_000;
const RESOURCE_UPDATED = 'notifications/resources/updated';

export function createSubscriptionUnsupportedError(): GatewayError {
  return new GatewayError('MCP_RESOURCE_NOT_FOUND', {
    detail: 'This server does not support resource subscriptions.',
  });
}

/** A stream of notifications on a leased connection. */
export interface OpenStream {
  /** Starts delivery, or replaces the resources of the previous call. `onRenewed`: the server lost its subscriptions. */
  listen(
    onNotification: (notification: ServerNotification) => void,
    resources: readonly string[],
    onRenewed: () => void,
  ): void;
  /** Sends `resources/subscribe` if the protocol revision needs a separate request. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  /** Calls the listener once when the stream must be reopened: the connection or its credential is outdated. */
  onOutdated(listener: () => void): void;
  /** Idempotent. */
  close(): void;
}

export type UpstreamSubscription = ReturnType<typeof createUpstreamSubscription>;

/**
 * One stream of notifications from a server, open while it has subscribers. One subscriber is its sponsor: the stream is
 * opened with the sponsor's access. A shared stream carries no user's credential, but needs a sponsor that is allowed
 * to use the server.
 */
export function createUpstreamSubscription(parts: {
  readonly clock: Clock;
  readonly random: Random;
  /** All users of an app server share this stream. */
  readonly isShared: boolean;
  readonly onEmpty: () => void;
}) {
  const { clock, random, isShared, onEmpty } = parts;
  const urisBySubscriber = new Map<Subscriber, Set<string>>();
  const subscribersByUri = new Map<string, Set<Subscriber>>();
  /** `resources/subscribe` requests in progress. */
  const pendingSubscribes = new Map<string, Promise<void>>();
  const coalescer = createNotificationCoalescer(clock, deliver);
  const uriLengthByUser = new Map<string, number>();
  let totalUriLength = 0;
  let updateBudget = { remaining: MAX_UPDATE_BURST, refilledAt: clock.now() };
  let pendingUpdate: { readonly done: Promise<void>; cancel(): void } | undefined;
  let active:
    { readonly sponsor: Subscriber; readonly stream: OpenStream; readonly openedAt: number } | undefined;
  let opening: { readonly sponsor: Subscriber; readonly done: Promise<void>; stop(): void } | undefined;
  let cancelRetry: Cancel = () => undefined;
  let cancelHandOver: Cancel | undefined;
  let failures = 0;

  function adjustUriLength({ principal }: Subscriber, delta: number): void {
    totalUriLength += delta;
    const length = (uriLengthByUser.get(principal) ?? 0) + delta;
    if (length > 0) uriLengthByUser.set(principal, length);
    else uriLengthByUser.delete(principal);
  }

  function addResource(subscriber: Subscriber, uri: string): void {
    const own = urisBySubscriber.get(subscriber);
    // Two requests for the same URI can wait for the stream at the same time.
    if (!own || own.has(uri)) return;
    own.add(uri);
    adjustUriLength(subscriber, uri.length);
    subscribersByUri.set(uri, (subscribersByUri.get(uri) ?? new Set()).add(subscriber));
  }

  /** Returns true if the last subscriber of this URI was removed. */
  function removeResource(subscriber: Subscriber, uri: string): boolean {
    urisBySubscriber.get(subscriber)?.delete(uri);
    const uriSubscribers = subscribersByUri.get(uri);
    if (!uriSubscribers?.delete(subscriber)) return false;
    adjustUriLength(subscriber, -uri.length);
    return uriSubscribers.size === 0 && subscribersByUri.delete(uri);
  }

  function deliver(notification: ServerNotification): void {
    const { method, params } = notification;
    const recipients =
      method === RESOURCE_UPDATED ? subscribersByUri.get(String(params['uri'])) : urisBySubscriber.keys();
    fanOut([...(recipients ?? [])], notification);
  }

  /** Notifies in batches. A subscriber that throws does not affect the others. */
  function fanOut(recipients: readonly Subscriber[], notification: ServerNotification): void {
    for (const subscriber of recipients.slice(0, FAN_OUT_BATCH_SIZE)) {
      try {
        if (urisBySubscriber.has(subscriber) && subscriber.isAllowed())
          subscriber.onNotification(notification);
      } catch {
        // Errors of a subscriber concern only that subscriber.
      }
    }
    if (recipients.length > FAN_OUT_BATCH_SIZE)
      clock.timer(0, () => fanOut(recipients.slice(FAN_OUT_BATCH_SIZE), notification));
  }

  /** Forwards known fields only: the server may add anything, and several users receive the notification. */
  function handleNotification({ method, params }: ServerNotification): void {
    if (method !== RESOURCE_UPDATED) coalescer.emit(method, { method, params: {} });
    else if (typeof params['uri'] === 'string' && subscribersByUri.has(params['uri'])) {
      coalescer.emit(`${method} ${params['uri']}`, { method, params: { uri: params['uri'] } });
    }
  }

  function listenOn(stream: OpenStream): void {
    stream.listen(handleNotification, [...subscribersByUri.keys()], () => subscribeAllOn(stream));
  }

  /** Sends the current resources to the server, at once or with the next batch. Resolves when they were sent. */
  function updateListen(): Promise<void> {
    if (pendingUpdate) return pendingUpdate.done;
    const now = clock.now();
    const remaining = Math.min(
      MAX_UPDATE_BURST,
      updateBudget.remaining + (now - updateBudget.refilledAt) / UPDATE_INTERVAL_MS,
    );
    updateBudget = { remaining: Math.max(remaining - 1, 0), refilledAt: now };
    if (remaining >= 1) {
      if (active) listenOn(active.stream);
      return Promise.resolve();
    }
    let resolveDone: () => void;
    const done = new Promise<void>((resolve) => (resolveDone = resolve));
    const stopTimer = clock.timer(UPDATE_INTERVAL_MS, () => {
      pendingUpdate = undefined;
      if (active) listenOn(active.stream);
      resolveDone();
    });
    // When the stream closes, waiting callers continue: the next stream starts with all resources.
    const cancel = () => {
      stopTimer();
      resolveDone();
    };
    pendingUpdate = { done, cancel };
    return done;
  }

  function subscribeAllOn(stream: OpenStream): void {
    for (const uri of subscribersByUri.keys()) stream.subscribe(uri).catch(() => undefined);
  }

  /**
   * A user's stream uses the newest subscriber, whose sign-in is the newest. A shared stream uses the oldest, which is
   * least likely to leave. A subscriber without access is chosen only if no other has access.
   */
  function pickSponsor(): Subscriber | undefined {
    const candidates = [...urisBySubscriber.keys()];
    if (!isShared) candidates.reverse();
    return candidates.find(isStillAllowed) ?? candidates[0];
  }

  function ensureStream(): Promise<void> {
    if (active) return Promise.resolve();
    if (opening) return opening.done;
    cancelRetry();
    const sponsor = pickSponsor();
    if (!sponsor) return Promise.resolve();
    const abortController = new AbortController();
    const done = sponsor.openStream(abortController.signal).then(
      (stream) => {
        if (abortController.signal.aborted) return stream?.close();
        opening = undefined;
        if (stream) activateStream(sponsor, stream);
      },
      (error: unknown) => {
        if (abortController.signal.aborted) return;
        opening = undefined;
        scheduleRetry();
        throw error;
      },
    );
    done.catch(() => undefined);
    opening = { sponsor, done, stop: () => abortController.abort() };
    return done;
  }

  function activateStream(sponsor: Subscriber, stream: OpenStream): void {
    active = { sponsor, stream, openedAt: clock.now() };
    listenOn(stream);
    subscribeAllOn(stream);
    stream.onOutdated(() => {
      if (active?.stream === stream) renew();
    });
  }

  /**
   * The sponsor of a shared stream left: another subscriber opens a new stream before the old one closes. The remaining
   * subscribers miss no notification.
   */
  async function handOver(): Promise<void> {
    cancelHandOver = undefined;
    const previous = active;
    const sponsor = pickSponsor();
    if (!previous || !sponsor || urisBySubscriber.has(previous.sponsor)) return;
    try {
      const stream = await sponsor.openStream(new AbortController().signal);
      if (!stream) return;
      if (active === previous && urisBySubscriber.has(sponsor)) {
        activateStream(sponsor, stream);
        previous.stream.close();
      } else stream.close();
    } catch {
      // The previous stream stays open until the next attempt.
    } finally {
      if (active && !urisBySubscriber.has(active.sponsor) && urisBySubscriber.size > 0) scheduleHandOver();
    }
  }

  function scheduleHandOver(): void {
    cancelHandOver ??= clock.timer(BASE_RETRY_MS, () => void handOver());
  }

  function scheduleRetry(isFailure = true): void {
    const delayMs = Math.min(BASE_RETRY_MS * 2 ** Math.min(failures, 10), MAX_RETRY_MS);
    if (isFailure) failures += 1;
    cancelRetry();
    cancelRetry = clock.timer(
      delayMs * (0.5 + random.uniform() / 2),
      () => void ensureStream().catch(() => undefined),
    );
  }

  function releaseStream(): void {
    cancelRetry();
    cancelHandOver?.();
    cancelHandOver = undefined;
    pendingUpdate?.cancel();
    pendingUpdate = undefined;
    opening?.stop();
    opening = undefined;
    const stream = active?.stream;
    active = undefined;
    stream?.close();
  }

  /** Reopens the stream. */
  function renew(): void {
    // The back-off restarts only after a stream that stayed open, so that one that breaks at once is not reopened every second.
    if (active && clock.now() - active.openedAt >= MAX_RETRY_MS) failures = 0;
    releaseStream();
    if (urisBySubscriber.size > 0) scheduleRetry();
  }

  function removeSubscriber(subscriber: Subscriber): void {
    const uris = urisBySubscriber.get(subscriber);
    if (!uris) return;
    urisBySubscriber.delete(subscriber);
    const unusedUris = [...uris].filter((uri) => removeResource(subscriber, uri));
    if (urisBySubscriber.size === 0) {
      close();
      onEmpty();
      return;
    }
    if (opening?.sponsor === subscriber || (active?.sponsor === subscriber && !isShared)) {
      releaseStream();
      // Not a failure of the server: the back-off does not grow.
      if (isShared) void ensureStream().catch(() => undefined);
      else scheduleRetry(false);
      return;
    }
    if (active?.sponsor === subscriber) scheduleHandOver();
    unsubscribeUris(unusedUris);
  }

  function unsubscribeUris(uris: readonly string[]): void {
    if (!active || uris.length === 0) return;
    for (const uri of uris) active.stream.unsubscribe(uri);
    void updateListen();
  }

  function requireCapacity(subscriber: Subscriber, { length }: string): void {
    const own = (uriLengthByUser.get(subscriber.principal) ?? 0) + length;
    const isFull = own > MAX_URI_TEXT_PER_USER || totalUriLength + length > MAX_URI_TEXT_TOTAL;
    if (isFull || length > MAX_URI_LENGTH || (urisBySubscriber.get(subscriber)?.size ?? 0) >= MAX_RESOURCES)
      throw new GatewayError('MCP_RATE_LIMITED');
  }

  async function subscribe(subscriber: Subscriber, uri: string): Promise<void> {
    const uris = urisBySubscriber.get(subscriber);
    if (!uris || uris.has(uri)) return;
    requireCapacity(subscriber, uri);
    await ensureStream();
    if (!active) throw createSubscriptionUnsupportedError();
    // The subscriber left while the stream was opening. Nothing would ever remove its resource.
    if (!urisBySubscriber.has(subscriber)) return;
    // Other resources may have been added while the stream was opening.
    requireCapacity(subscriber, uri);
    const isNew = !subscribersByUri.has(uri);
    addResource(subscriber, uri);
    if (isNew) startSubscribe(active.stream, uri);
    try {
      // Subscribers that arrive while the request is in progress share its result.
      await pendingSubscribes.get(uri);
    } catch (error) {
      if (removeResource(subscriber, uri)) void updateListen();
      throw error;
    }
  }

  function startSubscribe(stream: OpenStream, uri: string): void {
    const updated = updateListen();
    const subscribed = stream.subscribe(uri).then(() => updated);
    pendingSubscribes.set(uri, subscribed);
    const done = () => {
      if (pendingSubscribes.get(uri) === subscribed) pendingSubscribes.delete(uri);
    };
    subscribed.then(done, done);
  }

  function close(): void {
    urisBySubscriber.clear();
    releaseStream();
    coalescer.close();
  }

  return {
    add(subscriber: Subscriber): ServerSubscription {
      urisBySubscriber.set(subscriber, new Set());
      void ensureStream().catch(() => undefined);
      return {
        subscribeResource: (uri) => subscribe(subscriber, uri),
        unsubscribeResource(uri) {
          if (removeResource(subscriber, uri)) unsubscribeUris([uri]);
        },
        close: () => removeSubscriber(subscriber),
      };
    },
    renew,
    close,
  };
}

function isStillAllowed(subscriber: Subscriber): boolean {
  try {
    return subscriber.isAllowed();
  } catch {
    return false;
  }
}

/** Delivers the first notification of a key at once. Repeats within `COALESCE_MS` become one at the end of that time. */
export function createNotificationCoalescer(
  clock: Clock,
  deliver: (notification: ServerNotification) => void,
) {
  const pending = new Map<string, { readonly cancel: Cancel; hasRepeat: boolean }>();

  function startWindow(key: string, notification: ServerNotification): void {
    const entry = {
      hasRepeat: false,
      cancel: clock.timer(COALESCE_MS, () => {
        pending.delete(key);
        if (!entry.hasRepeat) return;
        startWindow(key, notification);
        deliver(notification);
      }),
    };
    pending.set(key, entry);
  }

  return {
    emit(key: string, notification: ServerNotification): void {
      const entry = pending.get(key);
      if (entry) {
        entry.hasRepeat = true;
        return;
      }
      startWindow(key, notification);
      deliver(notification);
    },
    close(): void {
      for (const { cancel } of pending.values()) cancel();
      pending.clear();
    },
  };
}
