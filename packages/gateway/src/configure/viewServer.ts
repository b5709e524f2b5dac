import { hasAclBit, type ServersQuery, type ServerView } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Principal } from '../principal/principal.ts';
import type { ServerSnapshot } from '../registry/server.ts';
import type { ViewParts } from './parts.ts';
import { getViewerRights, toServerView } from './serverView.ts';

export interface NamedView {
  readonly name: string;
  readonly view: ServerView;
}

/** A server as this caller may see it. One that is not for them does not exist. */
export function viewServer(parts: ViewParts, principal: Principal, name: string): ServerView {
  parts.roles.requirePermission(principal, 'USE');
  const server = parts.registry.find(principal.tenant, name);
  const view = server && viewIfVisible(parts, principal, server);
  if (!view) throw new GatewayError('MCP_SERVER_NOT_FOUND');
  return view;
}

export interface ServerListPage {
  readonly servers: readonly NamedView[];
  /** The name after which the next page begins, if there is one. */
  readonly next?: string;
}

/** All of them, or a page of them in the order of their names. */
export function listServers(
  parts: ViewParts,
  principal: Principal,
  query: ServersQuery = {},
): ServerListPage {
  parts.roles.requirePermission(principal, 'USE');
  const { limit, after, search } = query;
  const all = parts.registry.list(principal.tenant).flatMap((server) => {
    const view = viewIfVisible(parts, principal, server);
    return view ? [{ name: server.name, view }] : [];
  });
  if (limit === undefined && after === undefined && search === undefined) return { servers: all };
  const matching = all
    .filter((entry) => (after === undefined || entry.name > after) && matches(entry, search))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const page = matching.slice(0, limit ?? matching.length);
  const last = page.at(-1);
  return { servers: page, ...(last && page.length < matching.length && { next: last.name }) };
}

/** Who may look after a server sees it as well, also where they may not use it. */
function viewIfVisible(
  { acl, registry }: ViewParts,
  principal: Principal,
  server: ServerSnapshot,
): ServerView | null {
  const bits = acl.getManageBits(principal, server);
  if (!acl.canUse(principal, server) && !hasAclBit(bits, 'VIEW')) return null;
  return toServerView(server, registry.origin(server), getViewerRights(principal, server, bits));
}

function matches({ name, view }: NamedView, search: string | undefined): boolean {
  if (search === undefined) return true;
  const needle = search.toLowerCase();
  return [name, view.title, view.description].some((text) => text?.toLowerCase().includes(needle));
}
