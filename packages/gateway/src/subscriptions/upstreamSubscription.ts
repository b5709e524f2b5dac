import type { Cancel, Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ServerNotification } from '../upstream/upstream.ts';
import type { ServerSubscription, Subscriber } from './serverSubscriptions.ts';

const BASE_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** As many as a session or a subscription may name: they may all be of one server. */
const MAX_RESOURCES = 100;
const MAX_URI_LENGTH = 4_096;
/** All of them are told to the server at once: what one user names, and what all do, is bounded as text too. */
const MAX_URI_TEXT_PER_USER = 64 * 1024;
const MAX_URI_TEXT_TOTAL = 512 * 1024;
/** Each further address tells the server all of them again: a few times at once, then together. */
const MAX_UPDATE_BURST = 16;
const UPDATE_INTERVAL_MS = 250;

/** Of a server that tells nobody of updates. */
export function createSubscriptionUnsupportedError(): GatewayError {
  return new GatewayError('MCP_RESOURCE_NOT_FOUND', {
    detail: 'This server does not support resource subscriptions.',
  });
}

/** Of many who watch one server so many are told before anything else in this process has its turn. */
const FAN_OUT_BATCH_SIZE = 100;
const RESOURCE_UPDATED = 'notifications/resources/updated';

/** A stream of notices that stands, on a connection that is held for it. */
export interface OpenStream {
  /** Starts to hear; what it heard before is not repeated. Again with other resources, in place of the last time. */
  listen(
    onNotification: (notification: ServerNotification) => void,
    resources: readonly string[],
    onRenewed: () => void,
  ): void;
  /** Tells the server, where it must be told with a request of its own. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  /** Runs once, when it must be made anew: the connection or what it presents is outdated. */
  onOutdated(listener: () => void): void;
  /** Idempotent. */
  close(): void;
}

export interface UpstreamSubscription {
  add(subscriber: Subscriber): ServerSubscription;
  /** Makes it anew. */
  renew(): void;
  close(): void;
}

/** What changes at one server, for one user or for all who share it. It stands while anybody watches. */
export function createUpstreamSubscription(parts: {
  readonly clock: Clock;
  readonly random: Random;
  /** No user's own: it stands on somebody's word because somebody must have been let in, and on nobody's credential. */
  readonly isShared: boolean;
  readonly onEmpty: () => void;
}): UpstreamSubscription {
  const { clock, random, isShared, onEmpty } = parts;
  /** With what each has subscribed. */
  const subscribers = new Map<Subscriber, Set<string>>();
  const subscribersByUri = new Map<string, Set<Subscriber>>();
  /** Under way at the server. */
  const pendingSubscribes = new Map<string, Promise<void>>();
  const coalescer = createNotificationCoalescer(clock, deliver);
  /** How much text the addresses of each user are. */
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
    const own = subscribers.get(subscriber);
    // Two at once may have waited for the stream.
    if (!own || own.has(uri)) return;
    own.add(uri);
    adjustUriLength(subscriber, uri.length);
    const uriSubscribers = subscribersByUri.get(uri);
    if (uriSubscribers) uriSubscribers.add(subscriber);
    else subscribersByUri.set(uri, new Set([subscriber]));
  }

  /** True when nobody wants it any more. */
  function removeResource(subscriber: Subscriber, uri: string): boolean {
    subscribers.get(subscriber)?.delete(uri);
    const uriSubscribers = subscribersByUri.get(uri);
    if (!uriSubscribers?.delete(subscriber)) return false;
    adjustUriLength(subscriber, -uri.length);
    return uriSubscribers.size === 0 && subscribersByUri.delete(uri);
  }

  function deliver(notification: ServerNotification): void {
    if (notification.method !== RESOURCE_UPDATED) fanOut([...subscribers.keys()], notification);
    else fanOut([...(subscribersByUri.get(String(notification.params['uri'])) ?? [])], notification);
  }

  /** None of them makes another one wait: what each does with it is its own affair, and so is what goes wrong there. */
  function fanOut(recipients: readonly Subscriber[], notification: ServerNotification): void {
    for (const subscriber of recipients.slice(0, FAN_OUT_BATCH_SIZE)) {
      try {
        if (subscribers.has(subscriber) && subscriber.isAllowed()) subscriber.onNotification(notification);
      } catch {
        // The others must hear too.
      }
    }
    if (recipients.length > FAN_OUT_BATCH_SIZE)
      clock.timer(0, () => fanOut(recipients.slice(FAN_OUT_BATCH_SIZE), notification));
  }

  /** Only what we know of it goes on: a server may put anything beside it, and this is for several people. */
  function handleNotification({ method, params }: ServerNotification): void {
    if (method !== RESOURCE_UPDATED) coalescer.emit(method, { method, params: {} });
    else if (typeof params['uri'] === 'string' && subscribersByUri.has(params['uri'])) {
      coalescer.emit(`${method} ${params['uri']}`, { method, params: { uri: params['uri'] } });
    }
  }

  function listenOn(stream: OpenStream): void {
    stream.listen(handleNotification, [...subscribersByUri.keys()], () => subscribeAllOn(stream));
  }

  /** At once, and where it comes often together with what follows. Resolves when the server was told. */
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
    // Whoever waits does not wait for one that has ended: the next one is told everything.
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
   * A user's own on the word of the one who came last: their sign-in is the newest. A shared one on that of who stays. One
   * who may not hear any more speaks only where nobody may: it would keep the others from hearing.
   */
  function pickSponsor(): Subscriber | undefined {
    const candidates = [...subscribers.keys()];
    if (!isShared) candidates.reverse();
    return candidates.find(isStillAllowed) ?? candidates[0];
  }

  function isStillAllowed(subscriber: Subscriber): boolean {
    try {
      return subscriber.isAllowed();
    } catch {
      return false;
    }
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
   * Whose word a shared one stands on has left: it stands on another's, and only then the one before ends. The others miss
   * nothing, however often somebody comes and goes.
   */
  async function handOver(): Promise<void> {
    cancelHandOver = undefined;
    const previous = active;
    const sponsor = pickSponsor();
    if (!previous || !sponsor || subscribers.has(previous.sponsor)) return;
    try {
      const stream = await sponsor.openStream(new AbortController().signal);
      if (!stream) return;
      if (active === previous && subscribers.has(sponsor)) {
        activateStream(sponsor, stream);
        previous.stream.close();
      } else stream.close();
    } catch {
      // It stands as it did.
    } finally {
      if (active && !subscribers.has(active.sponsor) && subscribers.size > 0) handOverLater();
    }
  }

  function handOverLater(): void {
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

  function renew(): void {
    // One that breaks as soon as it stands is not made anew every second.
    if (active && clock.now() - active.openedAt >= MAX_RETRY_MS) failures = 0;
    releaseStream();
    if (subscribers.size > 0) scheduleRetry();
  }

  function removeSubscriber(subscriber: Subscriber): void {
    const uris = subscribers.get(subscriber);
    if (!uris) return;
    subscribers.delete(subscriber);
    const unusedUris = [...uris].filter((uri) => removeResource(subscriber, uri));
    if (subscribers.size === 0) {
      releaseStream();
      coalescer.close();
      onEmpty();
      return;
    }
    if (opening?.sponsor === subscriber || (active?.sponsor === subscriber && !isShared)) {
      releaseStream();
      // That somebody left is no failure of the server.
      if (isShared) void ensureStream().catch(() => undefined);
      else scheduleRetry(false);
      return;
    }
    if (active?.sponsor === subscriber) handOverLater();
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
    if (isFull || length > MAX_URI_LENGTH || (subscribers.get(subscriber)?.size ?? 0) >= MAX_RESOURCES)
      throw new GatewayError('MCP_RATE_LIMITED');
  }

  async function subscribe(subscriber: Subscriber, uri: string): Promise<void> {
    const uris = subscribers.get(subscriber);
    if (!uris || uris.has(uri)) return;
    requireCapacity(subscriber, uri);
    await ensureStream();
    if (!active) throw createSubscriptionUnsupportedError();
    // They left meanwhile: nobody would ever let it go.
    if (!subscribers.has(subscriber)) return;
    // Others may have been named meanwhile.
    requireCapacity(subscriber, uri);
    const isNew = !subscribersByUri.has(uri);
    addResource(subscriber, uri);
    if (isNew) startSubscribe(active.stream, uri);
    try {
      // As the first one to ask is told, so are those who ask meanwhile.
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

  return {
    add(subscriber) {
      subscribers.set(subscriber, new Set());
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
    close() {
      subscribers.clear();
      releaseStream();
      coalescer.close();
    },
  };
}

/** The same notice is told at most this often. */
const COALESCE_MS = 1_000;

/** Tells notices on: the first at once, what repeats it within a second as one at the end of that second. */
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
