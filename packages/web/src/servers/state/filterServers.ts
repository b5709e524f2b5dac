import type { ServerView } from '@behalf/contracts';
import { type Origin, type ServerState, needsAttention } from './serverState.ts';

/** A server in the list. */
export interface ListedServer {
  readonly name: string;
  readonly view: ServerView;
  readonly state: ServerState;
  readonly origin: Origin;
  /** Undefined while unknown. */
  readonly tools: number | undefined;
}

export const serverFilters = ['all', 'attention', 'yours', 'shared', 'configuration'] as const;
export type ServerFilter = (typeof serverFilters)[number];

/** Parses the filter in the URL. Default: all servers. */
export function parseServerFilter(text: string | null): ServerFilter {
  return serverFilters.find((filter) => filter === text) ?? 'all';
}

const { compare } = new Intl.Collator();

/** Sorts by displayed title. */
export function sortServers(servers: readonly ListedServer[]): ListedServer[] {
  return [...servers].sort((a, b) => compare(serverTitle(a), serverTitle(b)) || compare(a.name, b.name));
}

export function filterServers(
  servers: readonly ListedServer[],
  filter: ServerFilter,
  search: string,
): ListedServer[] {
  const query = search.trim().toLowerCase();
  return servers.filter((server) => matchesFilter(server, filter) && matchesSearch(server, query));
}

export function serverTitle({ name, view }: Pick<ListedServer, 'name' | 'view'>): string {
  return view.title ?? name;
}

function matchesFilter({ state, origin }: ListedServer, filter: ServerFilter): boolean {
  switch (filter) {
    case 'all':
      return true;
    case 'attention':
      return needsAttention(state);
    case 'yours':
      return origin === 'yours';
    case 'shared':
      return origin === 'shared' || origin === 'managed';
    case 'configuration':
      return origin === 'configuration' || origin === 'override';
  }
}

function matchesSearch({ name, view }: ListedServer, query: string): boolean {
  return [name, view.title, view.description].some((text) => text?.toLowerCase().includes(query));
}
