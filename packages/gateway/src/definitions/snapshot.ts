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

/** The tenant of servers that belong to every tenant. */
export const EVERY_TENANT = '*';

export interface ServerIdentity {
  readonly id: string;
  readonly tenant: string;
  readonly source: ServerSource;
  readonly author?: string;
  readonly securityDecision?: SecurityDecision;
  /** An administrator's override sets an address that differs from the configuration file. */
  readonly isAddressOverridden?: boolean;
}

/** What determines a server besides its definition. */
export interface SnapshotContext {
  readonly inheritedEnv: RenderContext['inheritedEnv'];
  /** The address rules as text; part of the revision. */
  readonly addressPolicy: string;
  /** The token source of servers with the `client_credentials` grant. */
  readonly appBearer: (serverId: string, tenant: string) => AppBearer;
}

type SnapshotResult = { readonly ok: true; readonly server: ServerSnapshot } | RenderFailure;

/** Converts a compiled definition to the frozen snapshot that the rest of the gateway uses. */
export function createSnapshot(
  settings: ServerSettings,
  identity: ServerIdentity,
  { inheritedEnv, addressPolicy, appBearer }: SnapshotContext,
): SnapshotResult {
  const scope = resolveScope(settings, identity.source);
  const { isAddressOverridden = false, ...identityFields } = identity;
  // Only addresses in the configuration file are the operator's. All others meet the stricter address policy.
  const audience = identity.source === 'user' || isAddressOverridden ? 'user-server' : 'yaml-server';
  const base = { ...identityFields, audience, name: settings.name, settings } as const;
  // WebSocket and SSE connections are checked only when they open, so a change of the address rules must end them.
  const policy = settings.type === 'websocket' || settings.type === 'sse' ? addressPolicy : null;
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

/**
 * A hash over everything a connection depends on; display fields are excluded. It includes source and tenant, so that an
 * override never uses a connection of its base server, even if both definitions are equal.
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
 * A restriction in the configuration that the composed gateway must enforce. `sharing`: the ACL decides who besides its
 * author sees a stored server.
 */
export type Restriction = 'access' | 'tools' | 'auth' | 'toolApproval' | 'sharing';

/**
 * Why a server is not offered, or null. A server with a restriction that this gateway does not enforce is not offered
 * at all: ignoring the restriction would allow more than the operator configured.
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
