import type { Cancel, Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Notice } from '../upstream/upstream.ts';
import { createCalmly } from './calmly.ts';
import type { Watch, Watcher } from './watches.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** As many as a session or a subscription may name: they may all be of one server. */
const MOST_RESOURCES = 100;
const LONGEST_URI = 4_096;
/** All of them are told to the server at once: what one user names, and what all do, is bounded as text too. */
const LONGEST_OF_ONE = 64 * 1024;
const LONGEST_OF_ALL = 512 * 1024;
/** Each further address tells the server all of them again: a few times at once, then together. */
const TOLD_AT_ONCE = 16;
const CALM_MS = 250;

/** Of a server that tells nobody of updates. */
export function nothingToHear(): GatewayError {
  return new GatewayError('MCP_RESOURCE_NOT_FOUND', { detail: 'Nothing can be subscribed at this server.' });
}

/** Of many who watch one server so many are told before anything else in this process has its turn. */
const AT_ONCE = 100;
const UPDATED = 'notifications/resources/updated';

/** A stream of notices that stands, on a connection that is held for it. */
export interface Standing {
  /** Starts to hear; what it heard before is not repeated. Again with other resources, in place of the last time. */
  listen(hear: (notice: Notice) => void, resources: readonly string[], onRenewed: () => void): void;
  /** Tells the server, where it must be told with a request of its own. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  /** Runs once, when it must be made anew: the connection or what it presents is outdated. */
  whenOver(listener: () => void): void;
  /** Idempotent. */
  end(): void;
}

export interface Feed {
  add(watcher: Watcher): Watch;
  /** Makes it anew. */
  renew(): void;
  close(): void;
}

/** What changes at one server, for one user or for all who share it. It stands while anybody watches. */
export function createFeed(parts: {
  readonly clock: Clock;
  readonly random: Random;
  /** No user's own: it stands on somebody's word because somebody must have been let in, and on nobody's credential. */
  readonly shared: boolean;
  readonly onEmpty: () => void;
}): Feed {
  const { clock, random, shared, onEmpty } = parts;
  /** With what each has subscribed. */
  const watchers = new Map<Watcher, Set<string>>();
  const wanted = new Map<string, Set<Watcher>>();
  /** Under way at the server. */
  const subscribing = new Map<string, Promise<void>>();
  const calmly = createCalmly(clock, deliver);
  /** How much text the addresses of each user are. */
  const lengths = new Map<string, number>();
  let lengthOfAll = 0;
  let room = { left: TOLD_AT_ONCE, at: clock.now() };
  let telling: { readonly done: Promise<void>; cancel(): void } | undefined;
  let standing: { readonly by: Watcher; readonly of: Standing; readonly since: number } | undefined;
  let making: { readonly by: Watcher; readonly done: Promise<void>; stop(): void } | undefined;
  let cancelRetry: Cancel = () => undefined;
  let cancelHandOver: Cancel | undefined;
  let failures = 0;

  function measure({ principal }: Watcher, more: number): void {
    lengthOfAll += more;
    const length = (lengths.get(principal) ?? 0) + more;
    if (length > 0) lengths.set(principal, length);
    else lengths.delete(principal);
  }

  function want(watcher: Watcher, uri: string): void {
    const own = watchers.get(watcher);
    // Two at once may have waited for the stream.
    if (!own || own.has(uri)) return;
    own.add(uri);
    measure(watcher, uri.length);
    const those = wanted.get(uri);
    if (those) those.add(watcher);
    else wanted.set(uri, new Set([watcher]));
  }

  /** True when nobody wants it any more. */
  function unwant(watcher: Watcher, uri: string): boolean {
    watchers.get(watcher)?.delete(uri);
    const those = wanted.get(uri);
    if (!those?.delete(watcher)) return false;
    measure(watcher, -uri.length);
    return those.size === 0 && wanted.delete(uri);
  }

  function deliver(notice: Notice): void {
    if (notice.method !== UPDATED) tell([...watchers.keys()], notice);
    else tell([...(wanted.get(String(notice.params['uri'])) ?? [])], notice);
  }

  /** None of them makes another one wait: what each does with it is its own affair, and so is what goes wrong there. */
  function tell(whom: readonly Watcher[], notice: Notice): void {
    for (const watcher of whom.slice(0, AT_ONCE)) {
      try {
        if (watchers.has(watcher) && watcher.mayHear()) watcher.hear(notice);
      } catch {
        // The others must hear too.
      }
    }
    if (whom.length > AT_ONCE) clock.timer(0, () => tell(whom.slice(AT_ONCE), notice));
  }

  /** Only what we know of it goes on: a server may put anything beside it, and this is for several people. */
  function hear({ method, params }: Notice): void {
    if (method !== UPDATED) calmly.tell(method, { method, params: {} });
    else if (typeof params['uri'] === 'string' && wanted.has(params['uri'])) {
      calmly.tell(`${method} ${params['uri']}`, { method, params: { uri: params['uri'] } });
    }
  }

  function listen(of: Standing): void {
    of.listen(hear, [...wanted.keys()], () => subscribeAll(of));
  }

  /** At once, and where it comes often together with what follows. Resolves when the server was told. */
  function relisten(): Promise<void> {
    if (telling) return telling.done;
    const now = clock.now();
    const left = Math.min(TOLD_AT_ONCE, room.left + (now - room.at) / CALM_MS);
    room = { left: Math.max(left - 1, 0), at: now };
    if (left >= 1) {
      if (standing) listen(standing.of);
      return Promise.resolve();
    }
    let settle: () => void;
    const done = new Promise<void>((resolve) => (settle = resolve));
    const stop = clock.timer(CALM_MS, () => {
      telling = undefined;
      if (standing) listen(standing.of);
      settle();
    });
    // Whoever waits does not wait for one that has ended: the next one is told everything.
    const cancel = () => {
      stop();
      settle();
    };
    telling = { done, cancel };
    return done;
  }

  function subscribeAll(of: Standing): void {
    for (const uri of wanted.keys()) of.subscribe(uri).catch(() => undefined);
  }

  /**
   * A user's own on the word of the one who came last: their sign-in is the newest. A shared one on that of who stays. One
   * who may not hear any more speaks only where nobody may: it would keep the others from hearing.
   */
  function speaker(): Watcher | undefined {
    const all = [...watchers.keys()];
    if (!shared) all.reverse();
    return all.find(hears) ?? all[0];
  }

  function hears(watcher: Watcher): boolean {
    try {
      return watcher.mayHear();
    } catch {
      return false;
    }
  }

  function make(): Promise<void> {
    if (standing) return Promise.resolve();
    if (making) return making.done;
    cancelRetry();
    const by = speaker();
    if (!by) return Promise.resolve();
    const stop = new AbortController();
    const done = by.stand(stop.signal).then(
      (of) => {
        if (stop.signal.aborted) return of?.end();
        making = undefined;
        if (of) settle(by, of);
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        making = undefined;
        later();
        throw error;
      },
    );
    done.catch(() => undefined);
    making = { by, done, stop: () => stop.abort() };
    return done;
  }

  function settle(by: Watcher, of: Standing): void {
    standing = { by, of, since: clock.now() };
    listen(of);
    subscribeAll(of);
    of.whenOver(() => {
      if (standing?.of === of) renew();
    });
  }

  /**
   * Whose word a shared one stands on has left: it stands on another's, and only then the one before ends. The others miss
   * nothing, however often somebody comes and goes.
   */
  async function handOver(): Promise<void> {
    cancelHandOver = undefined;
    const before = standing;
    const by = speaker();
    if (!before || !by || watchers.has(before.by)) return;
    try {
      const of = await by.stand(new AbortController().signal);
      if (!of) return;
      if (standing === before && watchers.has(by)) {
        settle(by, of);
        before.of.end();
      } else of.end();
    } catch {
      // It stands as it did.
    } finally {
      if (standing && !watchers.has(standing.by) && watchers.size > 0) handOverLater();
    }
  }

  function handOverLater(): void {
    cancelHandOver ??= clock.timer(FIRST_WAIT_MS, () => void handOver());
  }

  function later(isFailure = true): void {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), LONGEST_WAIT_MS);
    if (isFailure) failures += 1;
    cancelRetry();
    cancelRetry = clock.timer(wait * (0.5 + random.uniform() / 2), () => void make().catch(() => undefined));
  }

  function letGo(): void {
    cancelRetry();
    cancelHandOver?.();
    cancelHandOver = undefined;
    telling?.cancel();
    telling = undefined;
    making?.stop();
    making = undefined;
    const over = standing?.of;
    standing = undefined;
    over?.end();
  }

  function renew(): void {
    // One that breaks as soon as it stands is not made anew every second.
    if (standing && clock.now() - standing.since >= LONGEST_WAIT_MS) failures = 0;
    letGo();
    if (watchers.size > 0) later();
  }

  function remove(watcher: Watcher): void {
    const uris = watchers.get(watcher);
    if (!uris) return;
    watchers.delete(watcher);
    const left = [...uris].filter((uri) => unwant(watcher, uri));
    if (watchers.size === 0) {
      letGo();
      calmly.close();
      onEmpty();
      return;
    }
    if (making?.by === watcher || (standing?.by === watcher && !shared)) {
      letGo();
      // That somebody left is no failure of the server.
      if (shared) void make().catch(() => undefined);
      else later(false);
      return;
    }
    if (standing?.by === watcher) handOverLater();
    forget(left);
  }

  function forget(uris: readonly string[]): void {
    if (!standing || uris.length === 0) return;
    for (const uri of uris) standing.of.unsubscribe(uri);
    void relisten();
  }

  function requireRoom(watcher: Watcher, { length }: string): void {
    const own = (lengths.get(watcher.principal) ?? 0) + length;
    const isFull = own > LONGEST_OF_ONE || lengthOfAll + length > LONGEST_OF_ALL;
    if (isFull || length > LONGEST_URI || (watchers.get(watcher)?.size ?? 0) >= MOST_RESOURCES)
      throw new GatewayError('MCP_RATE_LIMITED');
  }

  async function subscribe(watcher: Watcher, uri: string): Promise<void> {
    const uris = watchers.get(watcher);
    if (!uris || uris.has(uri)) return;
    requireRoom(watcher, uri);
    await make();
    if (!standing) throw nothingToHear();
    // They left meanwhile: nobody would ever let it go.
    if (!watchers.has(watcher)) return;
    // Others may have been named meanwhile.
    requireRoom(watcher, uri);
    const isNew = !wanted.has(uri);
    want(watcher, uri);
    if (isNew) begin(standing.of, uri);
    try {
      // As the first one to ask is told, so are those who ask meanwhile.
      await subscribing.get(uri);
    } catch (error) {
      if (unwant(watcher, uri)) void relisten();
      throw error;
    }
  }

  function begin(of: Standing, uri: string): void {
    const told = relisten();
    const asked = of.subscribe(uri).then(() => told);
    subscribing.set(uri, asked);
    const done = () => {
      if (subscribing.get(uri) === asked) subscribing.delete(uri);
    };
    asked.then(done, done);
  }

  return {
    add(watcher) {
      watchers.set(watcher, new Set());
      void make().catch(() => undefined);
      return {
        subscribe: (uri) => subscribe(watcher, uri),
        unsubscribe(uri) {
          if (unwant(watcher, uri)) forget([uri]);
        },
        stop: () => remove(watcher),
      };
    },
    renew,
    close() {
      watchers.clear();
      letGo();
      calmly.close();
    },
  };
}
