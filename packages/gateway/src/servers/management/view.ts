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
import { requireAdmin } from '../../access/roles.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { type Principal, type UserPrincipal, isAdmin } from '../../principal/principal.ts';
import { type ServerSnapshot, listDeclaredVariables, needsOAuth, usesObo } from '../definition.ts';
import { toFields } from '../fields.ts';
import type { Overrides } from '../overrides.ts';
import type { Registry, ServerOrigin } from '../registry.ts';
import type { StoredDefinition } from '../stored.ts';
import type { ViewParts } from './editing.ts';
import { toUserServer } from './validate.ts';

interface NamedView {
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

interface ServerListPage {
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

export interface ListAllServersParts {
  readonly registry: Pick<Registry, 'list' | 'origin'>;
  readonly overrides: Pick<Overrides, 'load'>;
}

/** Every server of the tenant, whoever defined it: an administrator sees what there is, though not how it gets in. */
export async function listAllServers(
  { registry, overrides }: ListAllServersParts,
  principal: UserPrincipal,
): Promise<AdminServersView> {
  requireAdmin(principal);
  const { tenant } = principal;
  const overridden = (await overrides.load())
    .filter((override) => override.tenant === tenant)
    .map(({ name }) => name);
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

/** Of `oauth`: what everybody sees who sees the server. */
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
/** And what only those see who may change it. */
const oauthForEditors = [
  ...oauthForViewers,
  'authorization_url',
  'token_url',
  'revocation_endpoint',
  'redirect_uri',
  'issuer',
] as const;

const oboKeys = ['scopes', 'provider', 'grant', 'audience', 'resource'];

/** Who looks: what they may do with the server, and whether the operator's definitions are theirs to see. */
interface ViewerRights {
  readonly bits: number;
  readonly isEditor: boolean;
}

/** Nobody edits what the operator defines, but administrators see it as editors see theirs. */
export function getViewerRights(principal: Principal, server: ServerSnapshot, bits: number): ViewerRights {
  return { bits, isEditor: server.source === 'user' ? hasAclBit(bits, 'EDIT') : isAdmin(principal) };
}

/**
 * What is shown of a server: field by field, so that one nobody has thought about stays hidden. Addresses and scopes come
 * from what was written, not from what it was filled in with: a variable of the operator's environment may be a secret.
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
    // Whole: a form that lost it would remove OBO when it is saved.
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

/** What people are told of the values that a server takes of them. */
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

/** The variable that `apiKey.source: user` declares by itself. */
const apiKeyVariableView = { title: 'API key', description: 'Your API key for this server', sensitive: true };

/** The answer to who has just created or changed a server. */
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
