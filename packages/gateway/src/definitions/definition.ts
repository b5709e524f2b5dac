import { apiKeyVariable, draftPrefix } from '@behalf/contracts';
import {
  type PlaceholderKind,
  type ServerSettings,
  type Template,
  collectPlaceholders,
  listPlaceholders,
} from '@behalf/settings';
import type { RemoteTarget, SharedTarget } from '../upstream/target.ts';
import { UpstreamError } from '../upstream/upstreamError.ts';

/** Where a definition comes from: the configuration file, an administrator's override, or a user. */
export type ServerSource = 'yaml' | 'config' | 'user';

interface ServerBase {
  /** Stable identifier. For servers of the configuration file and overrides it is the name. */
  readonly id: string;
  /** `*` for servers of the configuration file, which belong to every tenant. */
  readonly tenant: string;
  readonly name: string;
  readonly source: ServerSource;
  /** A hash over everything a connection depends on. A connection never outlives its revision. */
  readonly revision: string;
  readonly settings: ServerSettings;
  /** The user who created the server. Absent for servers of the operator. */
  readonly author?: string;
  /** Selects the address policy. Only addresses that the operator wrote have the operator's privileges. */
  readonly audience: RemoteTarget['audience'];
  /** Absent for servers of the configuration file. */
  readonly securityDecision?: SecurityDecision;
}

/** A server with one connection for all users. Its target was rendered without a user. */
export interface AppServer extends ServerBase {
  readonly scope: 'app';
  readonly target: SharedTarget;
}

type UserAuth = 'none' | 'static' | 'userVars' | 'oauth' | 'obo';

/** A server with separate connections for each user. */
export interface UserServer extends ServerBase {
  readonly scope: 'user';
  readonly auth: UserAuth;
  /** The definition contains fields of the chat request, so a connection serves a single request. */
  readonly requestScoped: boolean;
}

export type ServerSnapshot = AppServer | UserServer;

/** Who last changed the address or the credential of a server. This can be a different user than the author. */
export interface SecurityDecision {
  /** Null if the operator's values are unchanged. */
  readonly decidedBy: string | null;
  /** False if the stored record does not match what this user decided. */
  readonly isIntact: boolean;
}

export type Scope =
  | { readonly scope: 'app' }
  | { readonly scope: 'user'; readonly auth: UserAuth; readonly requestScoped: boolean };

/**
 * Decides whether all users share one connection. No other code may decide this: a second, different decision could
 * send one user's credential over another user's connection.
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

function resolveUserAuth(settings: ServerSettings, hasPlaceholders: boolean): UserAuth {
  if (usesObo(settings)) return 'obo';
  // A process has no requests that could carry a token: it gets its values when it starts.
  if (needsOAuth(settings) && settings.type !== 'stdio') return 'oauth';
  if (listDeclaredVariables(settings).length > 0) return 'userVars';
  const configured = settings.type === 'stdio' ? settings.env : settings.headers;
  const isStatic = hasPlaceholders || settings.apiKey !== undefined || Object.keys(configured).length > 0;
  return isStatic ? 'static' : 'none';
}

/**
 * Whether users must sign in at the server according to its definition. `requiresOAuth` overrides the other fields. A
 * server with the `client_credentials` grant needs no user to sign in.
 */
export function needsOAuth(settings: ServerSettings): boolean {
  const { requiresOAuth, oauth, auth } = settings;
  if (usesClientCredentialsGrant(settings)) return false;
  const hasOtherCredential =
    settings.apiKey !== undefined || listDeclaredVariables(settings).length > 0 || usesObo(settings);
  const requiresCredential = auth === 'optional' || auth === 'required';
  return requiresOAuth ?? (oauth !== undefined || (requiresCredential && !hasOtherCredential));
}

/** Whether the gateway presents its own token to the server (RFC 6749, section 4.4). */
export function usesClientCredentialsGrant({ oauth }: ServerSettings): boolean {
  return oauth?.grant === 'client_credentials';
}

export function usesObo(settings: ServerSettings): boolean {
  return 'obo' in settings && settings.obo !== undefined;
}

const graphUsageCache = new WeakMap<ServerSettings, boolean>();

/** Whether a header contains a token for Microsoft Graph. Cached, because each call checks it. */
export function usesGraph(settings: ServerSettings): boolean {
  let uses = graphUsageCache.get(settings);
  if (uses === undefined) {
    uses = collectPlaceholders(settings).some(({ kind }) => kind === 'graph');
    graphUsageCache.set(settings, uses);
  }
  return uses;
}

/** The names of the variables that users can set for this server. Values under other names are never stored or used. */
export function listDeclaredVariables({ customUserVars, apiKey }: ServerSettings): string[] {
  const names = Object.keys(customUserVars ?? {});
  return apiKey?.source === 'user' && !names.includes(apiKeyVariable) ? [...names, apiKeyVariable] : names;
}

/**
 * Whether a 401 of this server may mean that the user must sign in. True if the definition says so, or if it says
 * nothing and contains no credential. A 401 for a configured key means that the key is wrong.
 */
export function mayRequireOAuth({ settings }: Pick<ServerSnapshot, 'settings'>): boolean {
  if (settings.type === 'stdio' || usesObo(settings) || usesClientCredentialsGrant(settings)) return false;
  // An access token expires while the socket is open, and WebSocket messages cannot carry a new one.
  if (settings.type === 'websocket') return false;
  if (settings.requiresOAuth !== undefined) return settings.requiresOAuth;
  if (settings.auth === 'none') return false;
  if (settings.oauth) return true;
  if (settings.apiKey || listDeclaredVariables(settings).length > 0) return false;
  return !Object.entries(settings.headers).some(([name, value]) => isCredentialHeader(name, value));
}

/**
 * Whether an inspection error shows that users must sign in at a server whose definition does not mention OAuth. Only a
 * Bearer challenge counts (RFC 6750, section 3); a 401 without one can have other causes.
 */
export function isSignInChallenge(server: ServerSnapshot, error: unknown): boolean {
  const { requiresOAuth, oauth } = server.settings;
  if (server.source !== 'yaml' || requiresOAuth !== undefined || oauth !== undefined) return false;
  if (!(error instanceof UpstreamError) || error.reason !== 'unauthorized') return false;
  return error.detail.challenge?.scheme === 'bearer' && mayRequireOAuth(server);
}

/** Header names that may hold a credential. Deliberately broad. */
const CREDENTIAL_NAME = /auth|key|token|secret|passw|credential|cookie|session|sig|jwt|\bpat\b|bearer/i;
/** Header values that are a credential, whatever the header name. */
const CREDENTIAL_VALUE = /^\s*(bearer|basic|token|apikey|digest|negotiate)\s/i;
const SECRET_PLACEHOLDERS: ReadonlySet<PlaceholderKind> = new Set(['userVar', 'openid', 'graph']);

/** Whether a configured header probably authenticates the request. */
export function isCredentialHeader(name: string, value: Template): boolean {
  const [firstPart] = value;
  return (
    CREDENTIAL_NAME.test(name) ||
    (firstPart?.kind === 'literal' && CREDENTIAL_VALUE.test(firstPart.text)) ||
    listPlaceholders(value).some(({ kind }) => SECRET_PLACEHOLDERS.has(kind))
  );
}

/** The name of a draft in URLs. No saved server can have such a name. */
export function toDraftName(id: string): string {
  return `${draftPrefix}${id}`;
}

export function parseDraftName(name: string): string | undefined {
  return name.startsWith(draftPrefix) ? name.slice(draftPrefix.length) : undefined;
}
