import {
  ALL_ACL_BITS,
  type AdminServersView,
  type NamedServerView,
  type ServerView,
  type ServersQuery,
  aclBits,
  hasAclBit,
} from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import type { Acl } from '../access/acl.ts';
import { type Roles, requireAdmin } from '../access/roles.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import { type Principal, type UserPrincipal, isAdmin } from '../principal/principal.ts';
import {
  type ServerSnapshot,
  listDeclaredVariables,
  needsOAuth,
  usesObo,
} from '../definitions/definition.ts';
import { toFields } from './fields.ts';
import type { Overrides } from './overrides.ts';
import type { Registry, ServerOrigin } from './registry.ts';
import type { StoredDefinition } from './stored.ts';
import { toUserServer } from './validate.ts';

/** The dependencies of reading servers. */
export interface ViewParts {
  readonly acl: Pick<Acl, 'canUse' | 'getManageBits'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
  readonly registry: Pick<Registry, 'find' | 'list' | 'origin'>;
}

/** A server as the caller may see it. Throws MCP_SERVER_NOT_FOUND for a hidden server and for a missing one. */
export function viewServer(parts: ViewParts, principal: Principal, name: string): ServerView {
  parts.roles.requirePermission(principal, 'USE');
  const server = parts.registry.find(principal.tenant, name);
  const view = server && viewIfVisible(parts, principal, server);
  if (!view) throw new GatewayError('MCP_SERVER_NOT_FOUND');
  return view;
}

interface NamedView {
  readonly name: string;
  readonly view: ServerView;
}

interface ServerListPage {
  readonly servers: readonly NamedView[];
  /** The `after` value of the next page, if there is one. */
  readonly next?: string;
}

/** The servers that the caller may see: all of them, or a page ordered by name if the query has parameters. */
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

/** A caller who may manage a server sees it, even without the right to use it. */
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

export interface ListAllServersParts {
  readonly registry: Pick<Registry, 'list' | 'origin'>;
  readonly overrides: Pick<Overrides, 'load'>;
}

/** All servers of the tenant for an administrator, without secrets. */
export async function listAllServers(
  { registry, overrides }: ListAllServersParts,
  principal: UserPrincipal,
): Promise<AdminServersView> {
  requireAdmin(principal);
  const { tenant } = principal;
  const tenantOverrides = (await overrides.load()).filter((override) => override.tenant === tenant);
  const overridden = tenantOverrides.map(({ name }) => name);
  const servers = registry.list(tenant).map((server) => ({
    serverName: server.name,
    overridden: overridden.includes(server.name),
    ...toServerView(server, registry.origin(server), {
      bits: server.source === 'user' ? ALL_ACL_BITS : 0,
      isEditor: true,
    }),
  }));
  const offeredNames = new Set(servers.map(({ serverName }) => serverName));
  return { servers, notOffered: overridden.filter((name) => !offeredNames.has(name)) };
}

/** The fields of `oauth` that every viewer sees. */
const oauthForViewers = [
  'client_id',
  'scope',
  'token_exchange_method',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'response_types_supported',
  'code_challenge_methods_supported',
  'skip_code_challenge_check',
  'revocation_endpoint_auth_methods_supported',
  'grant',
] as const;
/** The fields of `oauth` that editors see. */
const oauthForEditors = [
  ...oauthForViewers,
  'authorization_url',
  'token_url',
  'revocation_endpoint',
  'redirect_uri',
  'issuer',
] as const;

const oboKeys = ['scopes', 'provider', 'grant', 'audience', 'resource'];

interface ViewerRights {
  readonly bits: number;
  /** Whether the viewer sees addresses. */
  readonly isEditor: boolean;
}

/** Servers of the operator have no editors, but administrators see the same fields as editors of users' servers. */
export function getViewerRights(principal: Principal, server: ServerSnapshot, bits: number): ViewerRights {
  return { bits, isEditor: server.source === 'user' ? hasAclBit(bits, 'EDIT') : isAdmin(principal) };
}

/**
 * Lists each visible field explicitly, so that new fields are hidden by default. Addresses and scopes are shown as
 * written in the definition, because the value of an environment variable may be a secret.
 */
export function toServerView(server: ServerSnapshot, origin: ServerOrigin, rights: ViewerRights): ServerView {
  const { settings, source, id, author } = server;
  const { version, updatedAt } = origin;
  const { url, oauth, obo } = toFields(origin.definition);
  const { title, description, iconPath, chatMenu, serverInstructions, apiKey } = settings;
  const variables = describeVariables(settings);
  const { isEditor } = rights;
  return {
    type: settings.type,
    ...(isEditor && typeof url === 'string' && { url }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(iconPath !== undefined && { iconPath }),
    chatMenu,
    requiresOAuth: !usesObo(settings) && needsOAuth(settings),
    ...(server.scope === 'user' && server.requestScoped && { requestScoped: true as const }),
    serverInstructions,
    ...(variables !== undefined && { customUserVars: variables }),
    ...(apiKey !== undefined && {
      apiKey: {
        source: apiKey.source,
        authorization_type: apiKey.authorization_type,
        ...(apiKey.authorization_type === 'custom' && { custom_header: apiKey.custom_header }),
      },
    }),
    ...(oauth !== undefined && { oauth: pick(oauth, isEditor ? oauthForEditors : oauthForViewers) }),
    // Complete, because a form that sends the view back without `obo` would remove it.
    ...(usesObo(settings) && { obo: toOboView(obo) }),
    source,
    ...(source === 'user' && { dbId: id }),
    ...(author !== undefined && { author }),
    ...(version !== undefined && { version }),
    ...(updatedAt !== undefined && { updatedAt }),
    permissions: rights.bits | aclBits.VIEW,
  };
}

function toOboView(value: unknown): NonNullable<ServerView['obo']> {
  const { scopes, ...rest } = pick(value, oboKeys);
  return { scopes: typeof scopes === 'string' ? scopes : '', ...rest };
}

function pick(value: unknown, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(toFields(value)).filter(([key]) => keys.includes(key)));
}

/** The variables that users can set for a server. */
export function describeVariables(settings: ServerSettings): ServerView['customUserVars'] {
  const names = listDeclaredVariables(settings);
  if (names.length === 0) return undefined;
  return Object.fromEntries(
    names.map((name) => {
      const { title, description, sensitive } = settings.customUserVars?.[name] ?? apiKeyVariableView;
      return [name, { title, description, sensitive }];
    }),
  );
}

/** The description of the variable that `apiKey.source: user` declares implicitly. */
const apiKeyVariableView = { title: 'API key', description: 'Your API key for this server', sensitive: true };

/** The view of a server that the caller just created or changed. */
export function toOwnerView(
  settings: ServerSettings,
  stored: StoredDefinition,
  bits: number = ALL_ACL_BITS,
): NamedServerView {
  const view = toServerView(toUserServer({ ...settings, name: stored.name }, stored), stored, {
    bits,
    isEditor: hasAclBit(bits, 'EDIT'),
  });
  return { serverName: stored.name, ...view };
}
