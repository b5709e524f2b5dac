import { aclBits, hasAclBit, type ServerView } from '@behalf/contracts';
import type { ServerSettings } from '@behalf/settings';
import { isAdmin, type Principal } from '../principal/principal.ts';
import { toFields } from '../registry/canonicalFields.ts';
import type { ServerOrigin } from '../registry/registry.ts';
import { listDeclaredVariables, needsOAuth, usesObo } from '../registry/scope.ts';
import type { ServerSnapshot } from '../registry/server.ts';

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
export interface ViewerRights {
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
