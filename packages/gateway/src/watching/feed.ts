import type { Cancel, Clock, Random } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Notice } from '../upstream/upstream.ts';
import { createCalmly } from './calmly.ts';
import type { Watch, Watcher } from './watches.ts';

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
const MOST_RESOURCES = 64;
const LONGEST_URI = 4_096;
const NOTHING_TO_HEAR = 'Nothing can be subscribed at this server.';
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
  readonly onEmpty: () => void;
}): Feed {
  const { clock, random, onEmpty } = parts;
  /** With what each has subscribed. */
  const watchers = new Map<Watcher, Set<string>>();
  const calmly = createCalmly(clock, deliver);
  let standing: { readonly by: Watcher; readonly of: Standing; readonly since: number } | undefined;
  let making: { readonly by: Watcher; readonly done: Promise<void>; stop(): void } | undefined;
  let cancelRetry: Cancel = () => undefined;
  let failures = 0;

  const resources = () => [...new Set([...watchers.values()].flatMap((uris) => [...uris]))];
  const isWanted = (uri: string) => [...watchers.values()].some((uris) => uris.has(uri));

  function deliver(notice: Notice): void {
    const uri = notice.method === UPDATED ? String(notice.params['uri']) : undefined;
    for (const [watcher, uris] of [...watchers]) {
      if (uri !== undefined && !uris.has(uri)) continue;
      try {
        if (watcher.mayHear()) watcher.hear(notice);
      } catch {
        // Its own affair; the others must hear too.
      }
    }
  }

  /** Only what we know of it goes on: a server may put anything beside it, and this is for several people. */
  function hear({ method, params }: Notice): void {
    if (method !== UPDATED) calmly.tell(method, { method, params: {} });
    else if (typeof params['uri'] === 'string' && isWanted(params['uri'])) {
      calmly.tell(`${method} ${params['uri']}`, { method, params: { uri: params['uri'] } });
    }
  }

  function listen(of: Standing): void {
    of.listen(hear, resources(), () => {
      for (const uri of resources()) of.subscribe(uri).catch(() => undefined);
    });
  }

  /** On the word of the one who came last: their sign-in is the newest. */
  function make(): Promise<void> {
    if (standing) return Promise.resolve();
    if (making) return making.done;
    cancelRetry();
    const by = [...watchers.keys()].at(-1);
    if (!by) return Promise.resolve();
    const stop = new AbortController();
    const done = by.stand(stop.signal).then(
      (of) => {
        if (stop.signal.aborted) return of?.end();
        making = undefined;
        if (!of) return;
        standing = { by, of, since: clock.now() };
        listen(of);
        for (const uri of resources()) of.subscribe(uri).catch(() => undefined);
        of.whenOver(() => {
          if (standing?.of === of) renew();
        });
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

  function later(): void {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), LONGEST_WAIT_MS);
    failures += 1;
    cancelRetry();
    cancelRetry = clock.timer(wait * (0.5 + random.uniform() / 2), () => void make().catch(() => undefined));
  }

  function letGo(): void {
    cancelRetry();
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
    if (watchers.size === 0) {
      letGo();
      calmly.close();
      onEmpty();
    } else if (standing?.by === watcher || making?.by === watcher) renew();
    else for (const uri of uris) forget(uri);
  }

  function forget(uri: string): void {
    if (isWanted(uri) || !standing) return;
    standing.of.unsubscribe(uri);
    listen(standing.of);
  }

  async function subscribe(watcher: Watcher, uri: string): Promise<void> {
    const uris = watchers.get(watcher);
    if (!uris || uris.has(uri)) return;
    if (uris.size >= MOST_RESOURCES || uri.length > LONGEST_URI) throw new GatewayError('MCP_RATE_LIMITED');
    await make();
    if (!standing) throw new GatewayError('MCP_RESOURCE_NOT_FOUND', { detail: NOTHING_TO_HEAR });
    const { of } = standing;
    const isNew = !isWanted(uri);
    uris.add(uri);
    if (!isNew) return;
    try {
      listen(of);
      await of.subscribe(uri);
    } catch (error) {
      uris.delete(uri);
      if (standing.of === of) listen(of);
      throw error;
    }
  }

  return {
    add(watcher) {
      watchers.set(watcher, new Set());
      void make().catch(() => undefined);
      return {
        subscribe: (uri) => subscribe(watcher, uri),
        unsubscribe(uri) {
          if (watchers.get(watcher)?.delete(uri)) forget(uri);
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
