import { createHash } from 'node:crypto';
import type { ServerSettings, Settings } from '@behalf/settings';
import type { AppBearer, UpstreamTarget } from '../upstream/target.ts';
import {
  type Scope,
  type SecurityDecision,
  type ServerSnapshot,
  type ServerSource,
  resolveScope,
  usesClientCredentialsGrant,
} from './definition.ts';
import { type RenderContext, type RenderFailure, renderTarget } from './render.ts';

/** The tenant of servers that belong to no tenant in particular. */
export const EVERY_TENANT = '*';

export interface ServerIdentity {
  readonly id: string;
  readonly tenant: string;
  readonly source: ServerSource;
  readonly author?: string;
  readonly securityDecision?: SecurityDecision;
  /** An administrator leads it elsewhere than the file does, or made it. */
  readonly isAddressOverridden?: boolean;
}

/** What decides about a server besides its definition. */
export interface SnapshotContext {
  readonly inheritedEnv: RenderContext['inheritedEnv'];
  /** Which addresses are allowed, as one text. */
  readonly addressPolicy: string;
  /** What connections of a server that is called with a token of ours present. */
  readonly appBearer: (serverId: string, tenant: string) => AppBearer;
}

type SnapshotResult = { readonly ok: true; readonly server: ServerSnapshot } | RenderFailure;

/** From a compiled definition to the frozen thing that everybody else works with. */
export function createSnapshot(
  settings: ServerSettings,
  identity: ServerIdentity,
  { inheritedEnv, addressPolicy, appBearer }: SnapshotContext,
): SnapshotResult {
  const scope = resolveScope(settings, identity.source);
  const { isAddressOverridden, ...identityFields } = identity;
  const audience = resolveAudience(identity.source, isAddressOverridden);
  const base = { ...identityFields, audience, name: settings.name, settings };
  const policy = hasPersistentConnection(settings) ? addressPolicy : null;
  if (scope.scope === 'user') {
    const revision = computeRevision(settings, base, scope, { target: null, policy });
    return { ok: true, server: Object.freeze({ ...base, ...scope, revision }) };
  }
  const rendered = renderTarget(settings, {}, { audience, inheritedEnv });
  if (!rendered.ok) return rendered;
  const revision = computeRevision(settings, base, scope, { target: rendered.target, policy });
  const target =
    usesClientCredentialsGrant(settings) && rendered.target.type !== 'stdio'
      ? Object.freeze({ ...rendered.target, bearer: appBearer(base.id, base.tenant) })
      : rendered.target;
  return { ok: true, server: Object.freeze({ ...base, ...scope, target, revision }) };
}

/** One address check when it opens, and none after: when the rules change, only another revision ends it. */
function hasPersistentConnection({ type }: ServerSettings): boolean {
  return type === 'websocket' || type === 'sse';
}

/** Only an address of the file is the operator's; one that a user or an administrator chose meets the stricter policy. */
function resolveAudience(source: ServerSource, isAddressOverridden = false): RenderContext['audience'] {
  return source === 'user' || isAddressOverridden ? 'user-server' : 'yaml-server';
}

/**
 * A hash over whatever a connection depends on; only what people read of a server is left out. Source and tenant are
 * part of it: an override never meets the connection of its base, even when both say the same.
 */
function computeRevision(
  settings: ServerSettings,
  { id, tenant, source, audience }: Pick<ServerSnapshot, 'id' | 'tenant' | 'source' | 'audience'>,
  scope: Scope,
  { target, policy }: { readonly target: UpstreamTarget | null; readonly policy: string | null },
): string {
  const { title: _title, description: _description, iconPath: _icon, chatMenu: _menu, ...rest } = settings;
  return createHash('sha256')
    .update(JSON.stringify([id, tenant, source, audience, scope, rest, target, policy]))
    .digest('base64url');
}

/**
 * Restrictions that this gateway may or may not carry out. `sharing`: who besides its author sees a server that a user
 * stored.
 */
export type Restriction = 'access' | 'tools' | 'auth' | 'toolApproval' | 'sharing';

/**
 * Why a server is left out, or null. One that asks for something not enforced yet is not offered at all: a restriction
 * that is written down and ignored would be worse than a server that is missing.
 */
export function getUnavailableReason(
  server: ServerSettings,
  source: ServerSource,
  toolApproval: Settings['endpoints']['toolApproval'],
  enforcedRestrictions: ReadonlySet<Restriction>,
): string | null {
  if (usesClientCredentialsGrant(server) && resolveScope(server, source).scope !== 'app') {
    return 'client_credentials requires a server that all users share, but this server is user-scoped';
  }
  const { deny = [], ask = [], mode, enabled } = toolApproval ?? {};
  const requested: Record<Restriction, boolean> = {
    access: server.access !== undefined,
    tools: server.tools !== undefined,
    auth: server.auth !== undefined && server.auth !== 'none',
    toolApproval: deny.length + ask.length > 0 || mode !== undefined || enabled !== undefined,
    sharing: source === 'user',
  };
  const unenforced = (Object.keys(requested) as Restriction[]).find(
    (name) => requested[name] && !enforcedRestrictions.has(name),
  );
  return unenforced === undefined ? null : reasons[unenforced];
}

const reasons: Record<Restriction, string> = {
  access: 'access is not enforced yet',
  tools: 'tools is not enforced yet',
  auth: 'auth is not supported yet',
  toolApproval: 'endpoints.agents.toolApproval is not enforced yet',
  sharing: 'sharing of stored servers is not enforced yet',
};
