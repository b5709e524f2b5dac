import type { Clock } from '@behalf/kernel';
import { isCurrent, type ChangeFeed } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import { secretHash } from './secretHash.ts';
import type { Sessions } from './sessions.ts';

const MOST_ENTRIES = 20_000;

interface Entry {
  readonly caller: UserPrincipal;
  readonly readAt: number;
}

export interface SessionCache {
  /**
   * Who holds this cookie. Without I/O for as long as an answer may be trusted. `carrier` is what brought it, a
   * connection: one that brings the same cookie again and again saves hashing it.
   */
  resolve(secret: string, carrier?: object): UserPrincipal | Promise<UserPrincipal | null>;
  close(): void;
}

/** Only who is signed in is remembered: guesses must not push the others out. */
export function createSessionCache(parts: {
  sessions: Pick<Sessions, 'resolve'>;
  changes: ChangeFeed;
  clock: Clock;
}): SessionCache {
  const { sessions, changes, clock } = parts;
  const known = new Map<string, Entry>();
  const carried = new WeakMap<object, { readonly secret: string; readonly hash: string }>();
  /** Counts notices: what was read before one may be what it told about. */
  let epoch = 0;

  const close = changes.subscribe(({ topic, id }) => {
    if (topic === 'sessions') {
      epoch += 1;
      if (id === '*') known.clear();
      else known.delete(id);
    }
    if (topic === 'users') {
      epoch += 1;
      for (const [hash, { caller }] of known) if (id === '*' || caller.userId === id) known.delete(hash);
    }
  });

  function hashOn(carrier: object, secret: string): string {
    const last = carried.get(carrier);
    if (last?.secret === secret) return last.hash;
    const hash = secretHash(secret);
    carried.set(carrier, { secret, hash });
    return hash;
  }

  async function read(secret: string, hash: string): Promise<UserPrincipal | null> {
    const begun = epoch;
    const readAt = clock.now();
    const caller = await sessions.resolve(secret);
    known.delete(hash);
    if (caller && begun === epoch) {
      // The map keeps insertion order, so the first one is the one read longest ago.
      if (known.size >= MOST_ENTRIES) known.delete(known.keys().next().value ?? '');
      known.set(hash, { caller, readAt });
    }
    return caller;
  }

  return {
    resolve(secret, carrier) {
      const hash = carrier ? hashOn(carrier, secret) : secretHash(secret);
      const entry = known.get(hash);
      if (entry && isCurrent(changes, clock.now(), entry.readAt)) return entry.caller;
      return read(secret, hash);
    },
    close,
  };
}
