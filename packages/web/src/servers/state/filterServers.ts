import type { ServerView } from '@behalf/contracts';
import type { Origin } from './origin.ts';
import { needsAttention, type ServerState } from './serverState.ts';

/** A server as the list shows it. */
export interface ListedServer {
  readonly name: string;
  readonly view: ServerView;
  readonly state: ServerState;
  readonly origin: Origin;
  /** Undefined while they are not known. */
  readonly tools: number | undefined;
}

export const shows = ['all', 'attention', 'yours', 'shared', 'configuration'] as const;
export type Show = (typeof shows)[number];

/** As it stands in an address; anything else shows all. */
export function readShow(text: string | null): Show {
  return shows.find((show) => show === text) ?? 'all';
}

const { compare } = new Intl.Collator();

/** In the order of what people read. */
export function sortServers(servers: readonly ListedServer[]): ListedServer[] {
  return [...servers].sort((a, b) => compare(titleOf(a), titleOf(b)) || compare(a.name, b.name));
}

export function filterServers(servers: readonly ListedServer[], show: Show, search: string): ListedServer[] {
  const wanted = search.trim().toLowerCase();
  return servers.filter((server) => isShown(server, show) && matches(server, wanted));
}

export function titleOf({ name, view }: Pick<ListedServer, 'name' | 'view'>): string {
  return view.title ?? name;
}

function isShown({ state, origin }: ListedServer, show: Show): boolean {
  switch (show) {
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

function matches({ name, view }: ListedServer, wanted: string): boolean {
  return [name, view.title, view.description].some((text) => text?.toLowerCase().includes(wanted));
}
