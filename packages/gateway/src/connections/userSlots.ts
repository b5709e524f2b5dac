import type { UserServer } from '../registry/server.ts';
import { serverKey } from './serverKey.ts';
import { createSlot, type Slot, type SlotParts } from './slot.ts';

export interface UserSlot {
  readonly key: string;
  readonly server: UserServer;
  readonly principal: string;
  readonly slot: Slot;
}

/** The places of users' own connections, by key and by principal. */
export interface UserSlots {
  find(key: string): Slot | undefined;
  /** The place with this key. The principal's other places at this server are given up: their binding is an old one. */
  obtain(key: string, server: UserServer, principal: string): Slot;
  /** Gives up places; resolves when what nobody uses is closed. */
  retire(which: readonly UserSlot[]): Promise<void>;
  of(principal: string): readonly UserSlot[];
  all(): Iterable<UserSlot>;
}

export function createUserSlots(parts: Pick<SlotParts, 'openings' | 'closings'>): UserSlots {
  const byKey = new Map<string, UserSlot>();
  const byPrincipal = new Map<string, Set<UserSlot>>();

  function forget(gone: UserSlot): void {
    if (byKey.get(gone.key) !== gone) return;
    byKey.delete(gone.key);
    const own = byPrincipal.get(gone.principal);
    own?.delete(gone);
    if (own?.size === 0) byPrincipal.delete(gone.principal);
  }

  const of = (principal: string) => [...(byPrincipal.get(principal) ?? [])];

  async function retire(which: readonly UserSlot[]): Promise<void> {
    which.forEach(forget);
    await Promise.all(which.map(({ slot }) => slot.retire()));
  }

  return {
    find: (key) => byKey.get(key)?.slot,
    obtain(key, server, principal) {
      const known = byKey.get(key);
      if (known) return known.slot;
      if (!server.requestScoped) {
        const name = serverKey(server);
        void retire(of(principal).filter((other) => serverKey(other.server) === name));
      }
      const slot = createSlot({ ...parts, onEmpty: () => forget(entry) });
      const entry: UserSlot = { key, server, principal, slot };
      byKey.set(key, entry);
      byPrincipal.set(principal, (byPrincipal.get(principal) ?? new Set()).add(entry));
      return slot;
    },
    retire,
    of,
    all: () => byKey.values(),
  };
}
