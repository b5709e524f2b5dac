import type { UserServer } from '../registry/server.ts';
import { tenantServerKey } from './connectionKeys.ts';
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
  getOrCreate(key: string, server: UserServer, principal: string): Slot;
  /** Gives up places; resolves when what nobody uses is closed. */
  retire(entries: readonly UserSlot[]): Promise<void>;
  findByPrincipal(principal: string): readonly UserSlot[];
  list(): Iterable<UserSlot>;
}

export function createUserSlots(parts: Pick<SlotParts, 'pendingConnections' | 'closeTracker'>): UserSlots {
  const byKey = new Map<string, UserSlot>();
  const byPrincipal = new Map<string, Set<UserSlot>>();

  function remove(entry: UserSlot): void {
    if (byKey.get(entry.key) !== entry) return;
    byKey.delete(entry.key);
    const ofPrincipal = byPrincipal.get(entry.principal);
    ofPrincipal?.delete(entry);
    if (ofPrincipal?.size === 0) byPrincipal.delete(entry.principal);
  }

  const findByPrincipal = (principal: string) => [...(byPrincipal.get(principal) ?? [])];

  async function retire(entries: readonly UserSlot[]): Promise<void> {
    entries.forEach(remove);
    await Promise.all(entries.map(({ slot }) => slot.retire()));
  }

  return {
    find: (key) => byKey.get(key)?.slot,
    getOrCreate(key, server, principal) {
      const existing = byKey.get(key);
      if (existing) return existing.slot;
      if (!server.requestScoped) {
        const targetServer = tenantServerKey(server);
        void retire(
          findByPrincipal(principal).filter((other) => tenantServerKey(other.server) === targetServer),
        );
      }
      const slot = createSlot({ ...parts, onEmpty: () => remove(entry) });
      const entry: UserSlot = { key, server, principal, slot };
      byKey.set(key, entry);
      byPrincipal.set(principal, (byPrincipal.get(principal) ?? new Set()).add(entry));
      return slot;
    },
    retire,
    findByPrincipal,
    list: () => byKey.values(),
  };
}
