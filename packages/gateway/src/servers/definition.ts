import { createHash } from 'node:crypto';
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
import { type Fields, nonSecurityKeys, stableStringify, toFields } from './fields.ts';
import { maskSecrets } from './secretFields.ts';

/** Where a definition comes from: the operator's file, an administrator's override of it, or a user. */
export type ServerSource = 'yaml' | 'config' | 'user';

interface ServerBase {
  /** Names the server for good; for servers of the file it is their name. */
  readonly id: string;
  /** `*` for servers of the file: they are every tenant's. */
  readonly tenant: string;
  readonly name: string;
  readonly source: ServerSource;
  /** Changes with whatever a connection depends on. No connection outlives it. */
  readonly revision: string;
  readonly settings: ServerSettings;
  /** Who defined it, for one that a user stored. */
  readonly author?: string;
  /** On whose word its address is judged: only what the operator wrote has the operator's privileges. */
  readonly audience: RemoteTarget['audience'];
  /** Whose word its address and credential rest on, for all but those of the file: not always the author's. */
  readonly securityDecision?: SecurityDecision;
}

/** Everybody shares one connection: its target was rendered without any user, and no other can be made of it. */
export interface AppServer extends ServerBase {
  readonly scope: 'app';
  readonly target: SharedTarget;
}

type UserAuth = 'none' | 'static' | 'userVars' | 'oauth' | 'obo';

/** Each user has connections of their own. */
export interface UserServer extends ServerBase {
  readonly scope: 'user';
  readonly auth: UserAuth;
  /** It names fields of the request, so a connection serves one request alone. */
  readonly requestScoped: boolean;
}

export type ServerSnapshot = AppServer | UserServer;

/** Who last decided where calls of a server lead and with which credential, and whether that still holds. */
export interface SecurityDecision {
  /** Null: what the operator decided still stands. */
  readonly decidedBy: string | null;
  /** False: the record says another thing than this person decided. */
  readonly isIntact: boolean;
}

/** The fields that are decided about, as they were written. */
export function pickSecurityFields(definition: unknown): Fields {
  return Object.fromEntries(
    Object.entries(toFields(definition)).filter(([key]) => !nonSecurityKeys.has(key)),
  );
}

/**
 * A hash over the person and what they decided. Without the secrets: it stands in the store in clear, where a short one
 * could be guessed. Without defaults: a new one must not make every server look tampered with.
 */
export function hashSecurityDecision(decidedBy: string, definition: unknown): string {
  return createHash('sha256')
    .update(stableStringify([decidedBy, maskSecrets(pickSecurityFields(definition))]))
    .digest('base64url');
}

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

/**
 * Whether a refusal by this server may mean "sign in first". So it is when the file says that users sign in there, and
 * also when nothing is said and the server is given no credential of any kind: a key that it refuses is a wrong key.
 */
export function mayRequireOAuth({ settings }: Pick<ServerSnapshot, 'settings'>): boolean {
  if (settings.type === 'stdio' || usesObo(settings) || usesClientCredentialsGrant(settings)) return false;
  // A token ends while a socket stays open, and no request on it could carry the next one.
  if (settings.type === 'websocket') return false;
  if (settings.requiresOAuth !== undefined) return settings.requiresOAuth;
  if (settings.auth === 'none') return false;
  if (settings.oauth) return true;
  if (settings.apiKey || listDeclaredVariables(settings).length > 0) return false;
  return !Object.entries(settings.headers).some(([name, value]) => isCredentialHeader(name, value));
}

/**
 * Whether a first look at a server of the file found that its users have to sign in, of which the file says nothing. The server
 * says so with the challenge of RFC 6750; a refusal without one may be anything.
 */
export function isSignInChallenge(server: ServerSnapshot, error: unknown): boolean {
  const { requiresOAuth, oauth } = server.settings;
  if (server.source !== 'yaml' || requiresOAuth !== undefined || oauth !== undefined) return false;
  if (!(error instanceof UpstreamError) || error.reason !== 'unauthorized') return false;
  return error.detail.challenge?.scheme === 'bearer' && mayRequireOAuth(server);
}

/** Names under which a key may stand in a configured header. Too many rather than too few. */
const CREDENTIAL_NAME = /auth|key|token|secret|passw|credential|cookie|session|sig|jwt|\bpat\b|bearer/i;
/** Values that are a credential whatever the header is called. */
const CREDENTIAL_VALUE = /^\s*(bearer|basic|token|apikey|digest|negotiate)\s/i;
const SECRET_PLACEHOLDERS: ReadonlySet<PlaceholderKind> = new Set(['userVar', 'openid', 'graph']);

/** Whether a configured header seems to be there to authenticate somebody. */
export function isCredentialHeader(name: string, value: Template): boolean {
  const [firstPart] = value;
  return (
    CREDENTIAL_NAME.test(name) ||
    (firstPart?.kind === 'literal' && CREDENTIAL_VALUE.test(firstPart.text)) ||
    listPlaceholders(value).some(({ kind }) => SECRET_PLACEHOLDERS.has(kind))
  );
}

/** For how long somebody may sign in and look around before they save. */
export const DRAFT_LIFETIME_MS = 15 * 60 * 1000;
/** So that nobody collects sign-ins; a form shows one at a time. */
export const MAX_DRAFTS = 10;

/** A server that its user looks at before saving it. */
export interface ServerDraft {
  /** Also of the server that is made of it. */
  readonly id: string;
  readonly tenant: string;
  readonly userId: string;
  readonly canonicalUrl: string;
  readonly definition: Fields;
  /** As sign-ins see it. The registry never knows it: no call, list or grant of rights can name it. */
  readonly server: UserServer;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Under which it stands in addresses of ours. No saved server can have such a name. */
export function toDraftName(id: string): string {
  return `${draftPrefix}${id}`;
}

export function parseDraftName(name: string): string | undefined {
  return name.startsWith(draftPrefix) ? name.slice(draftPrefix.length) : undefined;
}
