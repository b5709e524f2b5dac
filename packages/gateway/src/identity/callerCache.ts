import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed, type ChangeTopic } from '../ports/index.ts';
import type { Principal } from '../principal/principal.ts';
import { secretHash } from './secretHash.ts';

const MOST_ENTRIES = 20_000;
/** For how long calls run on while the store does not answer. */
const OUTAGE_MS = 30_000;

/** Who holds a secret, and until when at the latest. */
export interface KnownCaller {
  readonly caller: Principal;
  readonly until: number;
}

interface Entry extends KnownCaller {
  readonly generation: number;
  /** `DOUBTED` when a notice came since. */
  readAt: number;
}

/** Longer ago than anything may be relied on. */
const DOUBTED = -Infinity;

export interface CallerCache {
  /**
   * Who holds this secret. Without I/O for as long as an answer may be trusted. `carrier` is what brought it, a
   * connection: one that brings the same secret again and again saves hashing it.
   */
  resolve(secret: string, carrier?: object): Principal | Promise<Principal | null>;
  /** Whether this secret was good a moment ago; it may have to be looked at again. */
  isKnown(secret: string, carrier?: object): boolean;
  close(): void;
}

export interface CallerCacheParts {
  /** Asks the store, or the issuer's keys. */
  readonly read: (secret: string) => Promise<KnownCaller | null>;
  /** Which notices tell of single secrets, by their hash; null where there are none. */
  readonly topic: ChangeTopic | null;
  /** Moves when what was accepted may be accepted no longer, such as with the keys of an issuer. */
  readonly generation?: () => number;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** Only who is known is remembered: guesses must not push the others out. */
export function createCallerCache(parts: CallerCacheParts): CallerCache {
  const { read, topic, generation = () => 0, changes, clock } = parts;
  const known = new Map<string, Entry>();
  const carried = new WeakMap<object, { readonly secret: string; readonly hash: string }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  // What a notice may be about is read again before it counts, and stays known until then: others' changes must not
  // make strangers of people whose neighbour guesses.
  const close = changes.subscribe(({ topic: about, id }) => {
    if (about !== topic && about !== 'users') return;
    epoch += 1;
    for (const [hash, entry] of known) {
      const isMeant = about === 'users' ? entry.caller.userId === id : hash === id;
      if (isMeant || id === '*') entry.readAt = DOUBTED;
    }
  });

  function hashOn(carrier: object, secret: string): string {
    const last = carried.get(carrier);
    if (last?.secret === secret) return last.hash;
    const hash = secretHash(secret);
    carried.set(carrier, { secret, hash });
    return hash;
  }

  /** While the store does not answer, calls run on for a while with what was known. */
  function isBearable({ readAt, until }: Entry): boolean {
    const now = clock.now();
    if (readAt === DOUBTED || now >= until) return false;
    return now - Math.max(readAt, changes.checkedAt()) < OUTAGE_MS;
  }

  async function load(secret: string, hash: string): Promise<Principal | null> {
    const begun = epoch;
    // As for notices: what was judged by the keys before these is judged again.
    const of = generation();
    const readAt = clock.now();
    let found: KnownCaller | null;
    try {
      found = await read(secret);
    } catch (error) {
      const before = known.get(hash);
      if (before?.generation === of && begun === epoch && isBearable(before)) return before.caller;
      throw error;
    }
    known.delete(hash);
    if (!found || found.until <= clock.now()) return null;
    // The map keeps insertion order, so the first one is the one read longest ago.
    if (known.size >= MOST_ENTRIES) known.delete(known.keys().next().value ?? '');
    known.set(hash, { ...found, readAt: begun === epoch ? readAt : DOUBTED, generation: of });
    return found.caller;
  }

  const hashOf = (secret: string, carrier: object | undefined) =>
    carrier ? hashOn(carrier, secret) : secretHash(secret);

  return {
    isKnown: (secret, carrier) => known.has(hashOf(secret, carrier)),
    resolve(secret, carrier) {
      const hash = hashOf(secret, carrier);
      const entry = known.get(hash);
      const now = clock.now();
      const isSame = entry?.generation === generation();
      if (entry && isSame && now < entry.until && isCurrent(changes, now, entry.readAt)) return entry.caller;
      return load(secret, hash);
    },
    close,
  };
}
