import { apiKeyVariable } from '@behalf/contracts';
import { collectPlaceholders, type ServerSettings } from '@behalf/settings';
import type { ServerSource, UserAuth } from './server.ts';

export type Scope =
  | { readonly scope: 'app' }
  | { readonly scope: 'user'; readonly auth: UserAuth; readonly requestScoped: boolean };

/**
 * Whether everybody may share a connection to this server. The one place that decides it: a second opinion elsewhere
 * would sooner or later send one user's credential over another's connection.
 */
export function resolveScope(settings: ServerSettings, source: ServerSource): Scope {
  const placeholders = collectPlaceholders(settings);
  const isShared =
    source !== 'user' &&
    settings.startup &&
    !needsOAuth(settings) &&
    !usesObo(settings) &&
    listDeclaredVariables(settings).length === 0 &&
    placeholders.length === 0;
  if (isShared) return { scope: 'app' };
  return {
    scope: 'user',
    auth: resolveUserAuth(settings, placeholders.length > 0),
    requestScoped: placeholders.some(({ kind }) => kind === 'body'),
  };
}

/** `requiresOAuth: false` switches off what `oauth` would switch on. A grant of ours is nobody's sign-in. */
export function needsOAuth(settings: ServerSettings): boolean {
  const { requiresOAuth, oauth, auth } = settings;
  if (usesClientCredentialsGrant(settings)) return false;
  return (
    requiresOAuth ?? (oauth !== undefined || (requiresCredential(auth) && !hasOtherCredential(settings)))
  );
}

/** Whether it is called with one token of ours for everybody (`client_credentials`). */
export function usesClientCredentialsGrant({ oauth }: ServerSettings): boolean {
  return oauth?.grant === 'client_credentials';
}

function requiresCredential(auth: ServerSettings['auth']): boolean {
  return auth === 'optional' || auth === 'required';
}

function hasOtherCredential(settings: ServerSettings): boolean {
  return settings.apiKey !== undefined || listDeclaredVariables(settings).length > 0 || usesObo(settings);
}

export function usesObo(settings: ServerSettings): boolean {
  return 'obo' in settings && settings.obo !== undefined;
}

const graphUsageCache = new WeakMap<ServerSettings, boolean>();

/** Whether it is sent a token for Microsoft Graph in a header. A definition never changes, and every call asks. */
export function usesGraph(settings: ServerSettings): boolean {
  let uses = graphUsageCache.get(settings);
  if (uses === undefined) {
    uses = collectPlaceholders(settings).some(({ kind }) => kind === 'graph');
    graphUsageCache.set(settings, uses);
  }
  return uses;
}

/** The names whose values a user may enter for this server. No other name is ever stored or used. */
export function listDeclaredVariables({ customUserVars, apiKey }: ServerSettings): string[] {
  const names = Object.keys(customUserVars ?? {});
  return apiKey?.source === 'user' && !names.includes(apiKeyVariable) ? [...names, apiKeyVariable] : names;
}

function resolveUserAuth(settings: ServerSettings, hasPlaceholders: boolean): UserAuth {
  if (usesObo(settings)) return 'obo';
  // A process has no requests that could carry a token: it gets its values when it starts.
  if (needsOAuth(settings) && settings.type !== 'stdio') return 'oauth';
  if (listDeclaredVariables(settings).length > 0) return 'userVars';
  const configured = settings.type === 'stdio' ? settings.env : settings.headers;
  const isStatic = hasPlaceholders || settings.apiKey !== undefined || Object.keys(configured).length > 0;
  return isStatic ? 'static' : 'none';
}
