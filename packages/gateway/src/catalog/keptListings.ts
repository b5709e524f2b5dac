import { bytesInMemory } from './bytesInMemory.ts';
import type { Listed } from './listAll.ts';

export interface ListingLimits {
  /** In all. */
  readonly lists: number;
  readonly bytes: number;
  /** Of one server, for all who use it. */
  readonly ofServer: number;
}

export interface KeptListing {
  readonly holderKey: string;
  readonly listed: Listed;
  /** Until when it may be shown; from then on only names and addresses are left of it. */
  readonly until: number;
}

export interface KeptListings {
  get(serverId: string, key: string): KeptListing | undefined;
  set(serverId: string, key: string, listing: KeptListing): void;
  /** It is not the first to go. */
  touch(serverId: string, key: string): void;
  /** Nobody is shown it any more. */
  shorten(serverId: string, isMeant: (listing: KeptListing, key: string) => boolean): void;
  remove(serverId: string, isMeant: (listing: KeptListing) => boolean): void;
}

interface Kept extends KeptListing {
  readonly bytes: number;
}

interface OfServer {
  readonly lists: Map<string, Kept>;
  bytes: number;
}

/**
 * Lists of what servers have, within a number and bytes. A server may show every user another list as large as one may be: what goes
 * is the longest unused, of the server that has the most.
 */
export function createKeptListings(most: ListingLimits, now: () => number): KeptListings {
  const servers = new Map<string, OfServer>();
  let bytes = 0;
  let count = 0;

  function put(serverId: string, key: string, kept: Kept): void {
    const server = servers.get(serverId) ?? { lists: new Map<string, Kept>(), bytes: 0 };
    servers.set(serverId, server);
    server.lists.set(key, kept);
    server.bytes += kept.bytes;
    bytes += kept.bytes;
    count += 1;
  }

  function take(serverId: string, key: string): Kept | undefined {
    const server = servers.get(serverId);
    const kept = server?.lists.get(key);
    if (!server || !kept) return undefined;
    server.lists.delete(key);
    server.bytes -= kept.bytes;
    if (server.lists.size === 0) servers.delete(serverId);
    bytes -= kept.bytes;
    count -= 1;
    return kept;
  }

  function shortenIn(serverId: string, isMeant: (kept: Kept, key: string) => boolean): void {
    const server = servers.get(serverId);
    for (const [key, kept] of server?.lists ?? []) {
      if (!isMeant(kept, key)) continue;
      const short = shortened(kept);
      const spared = kept.bytes - short.bytes;
      // In its place: which one goes first stays as it is.
      server?.lists.set(key, short);
      if (server) server.bytes -= spared;
      bytes -= spared;
    }
  }

  function dropOf(serverId: string): void {
    const [first] = servers.get(serverId)?.lists.keys() ?? [];
    if (first !== undefined) take(serverId, first);
  }

  function makeRoom(serverId: string, needed: number): void {
    const lacks = () => bytes + needed > most.bytes;
    const ofServer = () => servers.get(serverId)?.bytes ?? 0;
    // Of what is too old to be shown less is needed: that comes before anything is lost.
    if (lacks() || ofServer() + needed > most.ofServer)
      for (const id of servers.keys()) shortenIn(id, ({ until }) => until <= now());
    while (ofServer() > 0 && ofServer() + needed > most.ofServer) dropOf(serverId);
    while (count > 0 && lacks()) dropOf(fullest((server) => server.bytes));
    while (count >= most.lists) dropOf(fullest(({ lists }) => lists.size));
  }

  function fullest(size: (server: OfServer) => number): string {
    const [[id]] = [...servers].sort(([, a], [, b]) => size(b) - size(a)) as [[string, OfServer]];
    return id;
  }

  return {
    get: (serverId, key) => servers.get(serverId)?.lists.get(key),
    set(serverId, key, listing) {
      take(serverId, key);
      const whole = { ...listing, bytes: bytesInMemory(listing.listed) };
      const isLarge = (kept: Kept) => kept.bytes > Math.min(most.ofServer, most.bytes);
      const kept = isLarge(whole) ? shortened(whole) : whole;
      if (isLarge(kept)) return;
      makeRoom(serverId, kept.bytes);
      put(serverId, key, kept);
    },
    touch(serverId, key) {
      const kept = take(serverId, key);
      if (kept) put(serverId, key, kept);
    },
    shorten: shortenIn,
    remove(serverId, isMeant) {
      for (const [key, kept] of [...(servers.get(serverId)?.lists ?? [])])
        if (isMeant(kept)) take(serverId, key);
    },
  };
}

const NEVER = 0;
const identities = ['uri', 'uriTemplate', 'name'] as const;

/** By what its items are known, and whether that is all of them. */
function shortened(kept: Kept): Kept {
  if (kept.until === NEVER) return kept;
  const { items, complete, era } = kept.listed;
  const known = items.map((item) =>
    Object.fromEntries(
      identities.flatMap((member) => (typeof item[member] === 'string' ? [[member, item[member]]] : [])),
    ),
  );
  const listed: Listed = { items: known, complete, era };
  return { holderKey: kept.holderKey, listed, until: NEVER, bytes: bytesInMemory(listed) };
}
