import { createHash } from 'node:crypto';
import type { ServerSettings } from '@behalf/settings';
import { renderTarget, type RenderContext, type RenderFailure } from './renderTarget.ts';
import { resolveScope, usesClientCredentialsGrant, type Scope } from './scope.ts';
import type { SecurityDecision } from './securityDecision.ts';
import type { ServerSnapshot, ServerSource } from './server.ts';
import type { AppBearer, UpstreamTarget } from '../upstream/target.ts';

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

export type SnapshotResult = { readonly ok: true; readonly server: ServerSnapshot } | RenderFailure;

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
