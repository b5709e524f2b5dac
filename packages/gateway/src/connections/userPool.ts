import { abortReason } from '@behalf/kernel';
import type { UserServer } from '../registry/server.ts';
import { createCapacity, type Place } from './capacity.ts';
import type { Connection } from './connection.ts';
import type { Passage } from './gate.ts';
import type { Holder } from './holder.ts';
import type { LeaseOptions, UserPool } from './lease.ts';
import { leaseOf } from './leaseOf.ts';
import type { PoolParts, PoolState } from './poolParts.ts';
import { createScouts } from './scouts.ts';
import { serverKey } from './serverKey.ts';
import type { SlotWork } from './slot.ts';
import { canBeStateless, isStateless } from './stateless.ts';
import { createStatelessConnections, statelessKey } from './statelessConnections.ts';
import { createUserSlots } from './userSlots.ts';

export interface UserConnections extends UserPool {
  retireOutdated(): void;
  sweep(): void;
  dropHolder(serverId: string, principal: string): Promise<void>;
  dropPrincipal(principal: string): Promise<void>;
  state(server: UserServer, principal: string): PoolState;
  /** What single users have open, and how many requests use each. */
  own(): Iterable<{ readonly server: UserServer; readonly principal: string; readonly borrowers: number }>;
  /** What is open and keeps no session. */
  stateless(): Iterable<{ readonly server: UserServer; readonly borrowers: number }>;
  /** Sessions of users' own. */
  readonly size: number;
  readonly statelessSize: number;
}

/** Where a caller's connection may be found. */
interface Keys {
  /** Undefined when the server cannot be one that keeps no session. */
  readonly everybody: string | undefined;
  readonly own: string;
}

export function createUserPool(parts: PoolParts): UserConnections {
  const { clock, limits, gate, attempt, openings, closings, connections, current } = parts;
  const capacity = createCapacity(limits);
  const scouts = createScouts(clock, limits);
  const stateless = createStatelessConnections(parts);
  const slots = createUserSlots({ openings, closings });

  let nameless = 0;

  function keysOf(server: UserServer, holder: Holder): Keys {
    const { target, principal, binding } = holder;
    // Without a request to belong to, a connection serves one lease alone. A number meets no request's name.
    const request = server.requestScoped ? (holder.request ?? (nameless += 1)) : null;
    return {
      everybody: canBeStateless(target) ? statelessKey(server, target) : undefined,
      // The principal is in it even where users share a binding, as with a stored server's static key: a session may
      // hold what its user did. Revision and binding are in it, so that no old definition or grant is found.
      own: JSON.stringify([server.tenant, server.id, server.revision, principal, binding, request]),
    };
  }

  function borrowWarm({ everybody, own }: Keys): Connection | undefined {
    const connection =
      (everybody === undefined ? undefined : stateless.find(everybody)) ?? slots.find(own)?.connection;
    connection?.borrow();
    return connection;
  }

  async function borrowCold(keys: Keys, passage: UserPassage, options: LeaseOptions): Promise<Connection> {
    const { server, holder } = passage;
    const { signal, forceNew = false } = options;
    const { everybody, own } = keys;
    if (!forceNew && everybody !== undefined && scouts.isOut(everybody) && !slots.find(own)) {
      await scouts.wait(everybody, signal);
      const found = borrowWarm(keys);
      if (found) return found;
    }
    const slot = slots.obtain(own, server, holder.principal);
    return slot.lease(workFor(passage, everybody, options), signal, forceNew);
  }

  const whenSettled = async ({ own }: Keys) => slots.find(own)?.settled();

  function workFor(passage: UserPassage, everybody: string | undefined, options: LeaseOptions): SlotWork {
    const { server, target, holder } = passage;
    const { forceNew = false } = options;
    const stillHolds = current.follow(server);
    let place: Place | undefined;
    let reportBack: () => void = () => undefined;
    return {
      begin() {
        place = capacity.take(holder.principal);
        if (everybody !== undefined) reportBack = scouts.send(everybody);
      },
      open: (signal) => attempt(passage, signal),
      adopt(upstream, onRetired) {
        if (everybody !== undefined) {
          if (isStateless(target, upstream.claims)) {
            return stateless.adopt(everybody, server, upstream, { replace: forceNew, keep: stillHolds() });
          }
          scouts.keepsSessions(everybody);
          // It kept none before: what everybody had is of no use any more.
          void stateless.find(everybody)?.retire();
        }
        const taken = place;
        place = undefined;
        const connection = connections.add(upstream, {
          onRetired,
          onClosed: () => taken?.free(),
          once: server.requestScoped,
        });
        taken?.fill(connection);
        return { connection, kept: stillHolds() ? 'here' : 'nowhere' };
      },
      ended() {
        place?.free();
        reportBack();
      },
    };
  }

  return {
    check(server, holder) {
      gate.check({ server, target: holder.target, holder });
    },
    async lease(server, holder, options) {
      const { signal, forceNew = false, explicit = false } = options;
      if (signal.aborted) throw abortReason(signal);
      openings.assertAllowed();
      const passage = { server, target: holder.target, holder };
      const pass = gate.enter(passage, explicit);
      const keys = keysOf(server, holder);
      try {
        const warm = forceNew ? undefined : borrowWarm(keys);
        const connection = warm ?? (await borrowCold(keys, passage, options));
        return leaseOf(connection, { passage, pass, gate, signal });
      } catch (error) {
        // The opening goes on without this caller, and until it ends it is the one probe.
        if (pass) void whenSettled(keys).then(() => gate.leave(passage, pass));
        throw error;
      }
    },
    retireOutdated() {
      void slots.retire([...slots.all()].filter(({ server }) => !current.holds(server)));
      stateless.retireOutdated();
    },
    sweep() {
      const old = clock.now() - limits.idleMs;
      for (const { slot } of slots.all()) {
        const { connection } = slot;
        if (connection?.borrowers === 0 && connection.usedAt <= old) void connection.retire();
      }
      stateless.sweep();
    },
    dropHolder: (serverId, principal) =>
      slots.retire(slots.of(principal).filter(({ server }) => server.id === serverId)),
    dropPrincipal: (principal) => slots.retire(slots.of(principal)),
    state(server, principal) {
      if (stateless.has(server)) return 'connected';
      const name = serverKey(server);
      const own = slots
        .of(principal)
        .filter((slot) => serverKey(slot.server) === name && slot.server.revision === server.revision);
      if (own.some(({ slot }) => slot.connection)) return 'connected';
      return own.length > 0 ? 'connecting' : undefined;
    },
    *own() {
      for (const { server, principal, slot } of slots.all()) {
        const { connection } = slot;
        if (connection) yield { server, principal, borrowers: connection.borrowers };
      }
    },
    *stateless() {
      for (const { server, connection } of stateless.all()) yield { server, borrowers: connection.borrowers };
    },
    get size() {
      return capacity.filled;
    },
    get statelessSize() {
      return stateless.size;
    },
  };
}

interface UserPassage extends Passage {
  readonly server: UserServer;
  readonly holder: Holder;
}
